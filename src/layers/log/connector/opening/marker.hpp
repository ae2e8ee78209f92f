// What says in a file that a log belongs to it: an attribute of its root group with 16 random bytes
// that the log has, too.
#pragma once

#include <optional>

#include "engine/log/format.hpp"
#include "vol/file/file_facts.hpp"

namespace headrace::log_layout {

// What the marker of a file says that HDF5 is opening by that name, with a list like that; none
// when there is none. Throws Error when it is not one that the layer writes.
std::optional<engine::log::Owner> read_marker(const vol::BelowFile& file, const char* name,
                                              hid_t fapl);
// The same of a file that nobody needs to have opened; none, too, when that cannot be told.
std::optional<engine::log::Owner> marker_on_storage(const char* name, hid_t fapl);
// Whether the marker of a file that is open says that log.
bool marks(const vol::BelowFile& file, const engine::log::Owner& owner) noexcept;
// Whether the file that an object is in has one; that may be another than it was opened through.
bool marked(const vol::BelowFile& object, H5I_type_t type);
// There is none yet. Throws Error.
void write_marker(const vol::BelowFile& file, const engine::log::Owner& owner);
// Throws Error when it remains.
void remove_marker(const vol::BelowFile& file);

// What the program has told HDF5 is in the file then, for readers of the file without HDF5. Throws
// Error.
void flush(const vol::BelowFile& file);

}  // namespace headrace::log_layout

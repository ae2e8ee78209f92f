// Types in which region references are sequences of bytes.
#pragma once

#include <cstdint>
#include <optional>

#include "hdf5/id.hpp"

namespace headrace::object {

// `file`: a number that the type of these sequences has.
Id<Kind::datatype> with_sequences(hid_t type, std::uint64_t file);
// The number, where the type is that of such a sequence.
std::optional<std::uint64_t> file_of_sequences(hid_t type);

}  // namespace headrace::object

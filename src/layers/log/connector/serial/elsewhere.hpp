// Logs of other files than the one that the program has named: behind external links.
#pragma once

#include "vol/object.hpp"

namespace headrace::log_layout {

// Throws Error when a log of an earlier program has to be replayed before the dataset can be read
// or written: one of another file, where an external link led to it. Asks on the first call for a
// handle.
void require_no_log_elsewhere(vol::Object& object);
// The same of what is to be copied: an object by its name, as seen from another one.
void require_no_log_elsewhere(const vol::Object& from, H5I_type_t type, const char* name);

}  // namespace headrace::log_layout

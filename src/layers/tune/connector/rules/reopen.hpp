// Closes a dataset below, and opens it anew with another access list. The application's thread
// only.
#pragma once

#include "vol/dataset/elements.hpp"

namespace headrace::tune {

// `identity`: the dataset's. False where that cannot be done, or not safely: the dataset is as it
// was then. Throws Error where it has been closed and could not be opened again.
bool reopen(vol::Object& dataset, const vol::Identity& identity, hid_t dapl);

}  // namespace headrace::tune

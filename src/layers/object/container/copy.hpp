// Copies of objects within a container, as H5Ocopy makes them; copying/ has those to other files.
#pragma once

#include "layers/object/container/opened.hpp"

namespace headrace::object {

// `to`: an open object of the source's file; `name`: the copy's, from `to` on. `options`: an object
// copy property list; `lcpl`: a link creation list. Throws Error.
void copy(const Found& source, const void* to, const char* name, hid_t options, hid_t lcpl);

}  // namespace headrace::object

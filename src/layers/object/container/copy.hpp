// Copies of objects within a container and between containers, as H5Ocopy makes them.
#pragma once

#include "layers/object/container/opened.hpp"

namespace headrace::object {

// `from`, `to`: open objects of the two files; `name`: the copy's, from `to` on. `options`: an
// object copy property list; `lcpl`: a link creation list. Throws Error.
void copy(const void* from, const Found& source, const void* to, const char* name, hid_t options,
          hid_t lcpl);

}  // namespace headrace::object

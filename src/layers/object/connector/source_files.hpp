// The files and datasets that the sources of virtual datasets are in.
#pragma once

#include "layers/object/container/opened.hpp"

namespace headrace::object {

// Of a virtual dataset, which is to be read, written or asked for its extent. The first opening
// that needs them decides where they are looked for, as natively. Throws Error.
void find_sources(const Open& dataset);

// What is open of the sources of all virtual datasets of a file is flushed. Throws Error.
void flush_sources(const File& file);

}  // namespace headrace::object

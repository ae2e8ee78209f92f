// The elements of a dataset or attribute, copied to one of another file.
#pragma once

#include <string>

#include "layers/object/copying/held.hpp"
#include "layers/object/copying/references.hpp"

namespace headrace::object {

// `what`: for errors. References become those of `anew`. Chunks whose elements are
// nothing but their bytes are copied as they are stored. All functions throw Error.
void copy_dataset(const Held& from, const Held& to, const std::string& what,
                  const NewReferences& anew);
void copy_attribute(const Held& from, const Held& to, const std::string& what,
                    const NewReferences& anew);

}  // namespace headrace::object

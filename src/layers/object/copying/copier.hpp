// Copies of objects between containers, and between a container and a native file.
//
// They are made by the calls that a program would make, as HDF5 has no copy between connectors.
#pragma once

#include "layers/object/copying/held.hpp"

namespace headrace::object {

// How H5Ocopy was called.
struct CopyLists {
  hid_t options;  // an object copy property list
  hid_t links;    // a link creation list
};

// Copies what `path` leads to from `from` on, with all below it, and links the copy as `name` from
// `to` on. Where both are root groups, and the target's is empty, it copies the file: references to
// objects lead to the copies then, which natively only whole files' do. Throws Error, and has
// linked nothing then; of a file, what was copied so far.
void copy_between(const Held& from, const std::string& path, const Held& to,
                  const std::string& name, const CopyLists& lists);

// Makes a link in `to` as that of `from`: a soft, external or user-defined one. Throws Error.
void copy_link(const Held& from, const std::string& path, const Held& to, const std::string& name,
               hid_t lcpl);

}  // namespace headrace::object

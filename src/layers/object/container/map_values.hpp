// Values of maps as their entries have them: large ones in heaps of the file.
#pragma once

#include <string>
#include <string_view>

#include "layers/object/container/file.hpp"

namespace headrace::object {

// All throw Error.
std::string stored_value(File& file, std::string value);
std::string value_of(File& file, std::string_view stored);
// All entries of one map to another one, which has the same types.
void copy_entries(File& from, const objects::Object& source, File& to,
                  const objects::Object& target);

}  // namespace headrace::object

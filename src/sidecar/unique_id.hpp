// Ids that nothing else has: 16 digits of 64 random bits, in base 16.
#pragma once

#include <string>
#include <string_view>

namespace headrace::sidecar {

// Throws Error.
std::string new_unique_id();
// Whether it is the text of one.
bool is_unique_id(std::string_view text);

}  // namespace headrace::sidecar

// Text that everybody can show, of bytes that may be damaged.
#pragma once

#include <string>
#include <string_view>

namespace headrace {

// UTF-8 as it is; control characters and bytes that are no UTF-8 as \xHH. Python refuses messages
// with such bytes.
std::string printable(std::string_view text);

}  // namespace headrace

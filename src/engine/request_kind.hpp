// What is asked of the storage that a file is on.
#pragma once

#include <cstdint>

namespace headrace::engine {

enum class RequestKind : std::uint8_t { read, write, flush, truncate };

}  // namespace headrace::engine

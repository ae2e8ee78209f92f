#include "engine/checksum.hpp"

#include <libdeflate.h>

namespace headrace::engine {

// The library takes a null pointer for the beginning.
std::uint32_t checksum(std::span<const std::byte> bytes, std::uint32_t before) {
  return bytes.empty() ? before : libdeflate_crc32(before, bytes.data(), bytes.size());
}

}  // namespace headrace::engine

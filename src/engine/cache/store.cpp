#include "engine/cache/store.hpp"

#include <algorithm>

namespace headrace::engine::cache {

bool Store::put(const Key& key, Buffer& chunk, std::uint64_t /*used*/) {
  forget(key);
  Claim claimed = claim(key, chunk.size());
  if (!claimed) return false;
  std::ranges::copy(chunk.bytes(), claimed.bytes().begin());
  claimed.publish();
  return true;
}

Buffer Store::take(const Key& key) {
  Buffer chunk;
  const bool found = read(key, [&](std::span<const std::byte> bytes) {
    chunk = Buffer(bytes.size());
    std::ranges::copy(bytes, chunk.data());
  });
  forget(key);
  return found ? std::move(chunk) : Buffer();
}

}  // namespace headrace::engine::cache

// The blobs of a container, by their keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "objects/check/survey.hpp"
#include "objects/keys.hpp"
#include "store/store.hpp"

namespace headrace::objects {

struct ChunkKey {
  ObjectId dataset = 0;
  std::vector<std::uint64_t> at;  // counted in chunks
};

struct ListedChunk {
  const std::string& key;
  const ChunkKey& of;
};

// None where the key is that of something else.
inline std::optional<ChunkKey> chunk_key(std::string_view container, std::string_view key) {
  constexpr std::size_t kNumber = sizeof(std::uint64_t);
  const std::string prefix = std::string(container) + "/d/";
  if (!key.starts_with(prefix)) return std::nullopt;
  key.remove_prefix(prefix.size());
  if (key.size() < 2 * kNumber || key.size() % kNumber != 0) return std::nullopt;
  ChunkKey found{number_in(key.substr(0, kNumber)), {}};
  for (key.remove_prefix(kNumber); !key.empty(); key.remove_prefix(kNumber))
    found.at.push_back(number_in(key.substr(0, kNumber)));
  return found;
}

inline bool is_heap_key(std::string_view container, std::string_view key) {
  const std::string prefix = std::string(container) + "/v/";
  return key.starts_with(prefix) && key.size() == prefix.size() + sizeof(std::uint64_t);
}

// Why nothing can read a chunk; null where something may, or where the chunk does not fit its
// dataset, which is damage. Throws Error where the chunk itself is damaged.
const char* why_garbage(store::Store& store, const Survey& survey, const ListedChunk& chunk);

}  // namespace headrace::objects

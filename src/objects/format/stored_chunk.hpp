// A chunk of a dataset, as a blob has it. See docs/formats/container.md.
#pragma once

#include <cstdint>
#include <string>

#include "store/store.hpp"

namespace headrace::objects {

struct StoredChunk {
  std::uint64_t epoch = 0;     // of the dataset when it was written
  std::uint32_t left_out = 0;  // a bit for each filter that was not applied
  store::Bytes bytes;          // encoded; lent
};

struct ChunkHead {
  std::uint64_t epoch = 0;
  std::uint32_t left_out = 0;
  std::size_t size = 0;  // of the head itself
};
inline constexpr std::size_t kMostHead = 32;  // more than any has

// What is in front of the bytes.
std::string encode_head(const StoredChunk& chunk);
// Of a blob, or of kMostHead bytes of it. Throws Error (corrupt).
ChunkHead decode_head(store::Bytes blob);
// Of a whole blob. Throws Error (corrupt).
StoredChunk decode_chunk(store::Bytes blob);

}  // namespace headrace::objects

// Where the chunks of an array are stored in a file, and which of them one request reads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/box.hpp"

namespace headrace::engine {

struct ChunkAddress {
  std::uint64_t chunk = 0;    // its place among all chunks, row-major
  std::uint64_t address = 0;  // in the file
  std::uint32_t size = 0;     // bytes stored
  std::uint32_t mask = 0;     // filters that were left out
};

// Chunks that are stored; others are not in it.
class ChunkMap {
 public:
  explicit ChunkMap(const Grid& grid);

  // `origin`: rank numbers. What lies outside of the array is left out. All are added before the
  // first is looked for.
  void add(const std::uint64_t* origin, std::uint64_t address, std::uint32_t size,
           std::uint32_t mask);
  void sort();

  [[nodiscard]] const Grid& grid() const { return grid_; }
  [[nodiscard]] std::size_t size() const { return chunks_.size(); }

  // Looks for chunks, which come in the order of their places.
  class Finder {
   public:
    explicit Finder(const ChunkMap& map) : rest_(map.chunks_) {}
    // Null when it is not stored.
    const ChunkAddress* find(std::uint64_t chunk);

   private:
    std::span<const ChunkAddress> rest_;
  };

 private:
  Grid grid_;
  Index along_{};  // chunks in each dimension
  std::vector<ChunkAddress> chunks_;
};

// A chunk that is to be read.
struct WantedChunk : ChunkAddress {
  std::uint32_t tag = 0;  // the caller's
};

// Bytes that one request reads, and the chunks in them.
struct Stretch {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::span<const WantedChunk> chunks;
};

// The first of them, with those that follow near enough to be read with what lies between: at most
// so many chunks, and bytes unless one chunk has more. `wanted` is in the order of addresses.
Stretch first_stretch(std::span<const WantedChunk> wanted, std::size_t most_chunks,
                      std::uint64_t most_bytes);

}  // namespace headrace::engine

// Selections of any form, cut at the borders of chunks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/box.hpp"
#include "engine/runs.hpp"

namespace headrace::engine {

// Elements of a selection that lie one after the other both in a chunk and in memory.
struct Fragment {
  std::uint64_t chunk = 0;      // its place among all chunks, row-major
  std::uint64_t in_chunk = 0;   // the first element, in the chunk
  std::uint64_t in_memory = 0;  // and in memory
  std::uint64_t count = 0;
};

// Those of a selection, by chunk; of one chunk in the order of the selection. `file`: runs of the
// array's elements, all within it; `memory`: as many elements, in the same order. None when there
// are more than `most`.
std::optional<std::vector<Fragment>> fragments_of(const Grid& grid, std::span<const Run> file,
                                                  std::span<const Run> memory, std::size_t most);

// Where a chunk begins in the array.
Index origin_of(const Grid& grid, std::uint64_t chunk);

// Calls for_chunk(fragments) for those of each chunk.
template <typename ForChunk>
void each_chunk(std::span<const Fragment> fragments, const ForChunk& for_chunk) {
  while (!fragments.empty()) {
    std::size_t count = 1;
    while (count < fragments.size() && fragments[count].chunk == fragments.front().chunk) ++count;
    for_chunk(fragments.first(count));
    fragments = fragments.subspan(count);
  }
}

// Copies of fragments between a chunk, the memory that they are numbered in, and a buffer that has
// them one after the other. `element`: bytes.
void gather(std::span<const Fragment> fragments, std::size_t element, const std::byte* chunk,
            std::byte* memory);
void scatter(std::span<const Fragment> fragments, std::size_t element, const std::byte* memory,
             std::byte* chunk);
void gather_in_order(std::span<const Fragment> fragments, std::size_t element,
                     const std::byte* chunk, std::byte* buffer);
void scatter_in_order(std::span<const Fragment> fragments, std::size_t element,
                      const std::byte* buffer, std::byte* chunk);
void take_from_memory(std::span<const Fragment> fragments, std::size_t element,
                      const std::byte* memory, std::byte* buffer);
void put_in_memory(std::span<const Fragment> fragments, std::size_t element,
                   const std::byte* buffer, std::byte* memory);

}  // namespace headrace::engine

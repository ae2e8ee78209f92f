#include "engine/chunk_reuse.hpp"

#include <algorithm>

namespace headrace::engine {
namespace {

// Chunks of a call; one that touches more is of no use to a cache.
constexpr std::uint64_t kMost = std::uint64_t{1} << 16U;

bool same(unsigned rank, const Box& one, const Box& other) {
  return std::equal(one.start.begin(), one.start.begin() + rank, other.start.begin()) &&
         std::equal(one.count.begin(), one.count.begin() + rank, other.count.begin());
}

// To the next place of the box, row by row; false after the last.
bool advance(unsigned rank, const Box& box, Index& place) {
  for (unsigned d = rank; d-- > 0;) {
    if (++place[d] < box.start[d] + box.count[d]) return true;
    place[d] = box.start[d];
  }
  return false;
}

}  // namespace

bool ChunkReuse::follow(const Grid& grid) {
  Index chunks{};
  for (unsigned d = 0; d < grid.rank; ++d)
    chunks[d] = grid.dims[d] / grid.chunk[d] + (grid.dims[d] % grid.chunk[d] != 0 ? 1 : 0);
  const std::uint64_t all = volume(grid.rank, chunks);
  if (all > kMemory / sizeof(std::uint64_t)) return false;
  if (grid.rank != grid_.rank ||
      !std::equal(chunks.begin() + 1, chunks.begin() + grid.rank, chunks_.begin() + 1)) {
    times_.clear();
    last_ = {};
    touched_ = 0;
  }
  grid_ = grid;
  chunks_ = chunks;
  times_.resize(all);
  return true;
}

std::uint64_t ChunkReuse::touch(const Box& elements) {
  Box box;
  for (unsigned d = 0; d < grid_.rank; ++d) {
    if (elements.count[d] == 0) return 0;
    box.start[d] = elements.start[d] / grid_.chunk[d];
    box.count[d] = (elements.start[d] + elements.count[d] - 1) / grid_.chunk[d] - box.start[d] + 1;
  }
  const std::uint64_t count = volume(grid_.rank, box.count);
  if (count > kMost) return 0;
  if (touched_ > 0 && same(grid_.rank, box, last_)) return count;
  last_ = box;
  std::uint64_t needed = 0;
  Index place = box.start;
  do {
    std::uint64_t chunk = 0;
    for (unsigned d = 0; d < grid_.rank; ++d) chunk = chunk * chunks_[d] + place[d];
    ++touched_;
    if (times_[chunk] > 0) needed = std::max(needed, touched_ - times_[chunk]);
    times_[chunk] = touched_;
  } while (advance(grid_.rank, box, place));
  return std::min<std::uint64_t>(needed, times_.size());
}

}  // namespace headrace::engine

#include "engine/reading/chunk_map.hpp"

#include <algorithm>

namespace headrace::engine {

ChunkMap::ChunkMap(const Grid& grid) : grid_(grid) {
  for (unsigned d = 0; d < grid.rank; ++d)
    along_[d] = grid.dims[d] == 0 ? 0 : (grid.dims[d] - 1) / grid.chunk[d] + 1;
}

void ChunkMap::add(const std::uint64_t* origin, std::uint64_t address, std::uint32_t size,
                   std::uint32_t mask) {
  std::uint64_t chunk = 0;
  for (unsigned d = 0; d < grid_.rank; ++d) {
    if (origin[d] >= grid_.dims[d]) return;
    chunk = chunk * along_[d] + origin[d] / grid_.chunk[d];
  }
  chunks_.push_back({chunk, address, size, mask});
}

void ChunkMap::sort() {
  if (!std::ranges::is_sorted(chunks_, {}, &ChunkAddress::chunk))
    std::ranges::sort(chunks_, {}, &ChunkAddress::chunk);
}

const ChunkAddress* ChunkMap::Finder::find(std::uint64_t chunk) {
  if (!rest_.empty() && rest_.front().chunk < chunk)  // most often the one that comes next
    rest_ = rest_.subspan(1);
  if (!rest_.empty() && rest_.front().chunk < chunk) {
    const auto found = std::ranges::lower_bound(rest_, chunk, {}, &ChunkAddress::chunk);
    rest_ = {found, rest_.end()};
  }
  return rest_.empty() || rest_.front().chunk != chunk ? nullptr : rest_.data();
}

Stretch first_stretch(std::span<const WantedChunk> wanted, std::size_t most_chunks,
                      std::uint64_t most_bytes) {
  constexpr std::uint64_t kGap = 4096;  // a page: reading it costs less than a request
  const std::uint64_t begin = wanted.front().address;
  std::uint64_t end = begin + wanted.front().size;
  std::size_t count = 1;
  for (; count < std::min(wanted.size(), most_chunks); ++count) {
    const WantedChunk& next = wanted[count];
    const std::uint64_t next_end = std::max(end, next.address + next.size);
    if ((next.address > end && next.address - end > kGap) || next_end - begin > most_bytes) break;
    end = next_end;
  }
  return {begin, end - begin, wanted.first(count)};
}

}  // namespace headrace::engine

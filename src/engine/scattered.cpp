#include "engine/scattered.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace headrace::engine {
namespace {

// The fastest dimensions that each chunk has all of are one with the next slower one.
Grid joined(const Grid& grid) {
  Grid result = grid;
  while (result.rank > 1 && result.chunk[result.rank - 1] == result.dims[result.rank - 1]) {
    const std::uint64_t row = result.dims[--result.rank];
    result.dims[result.rank - 1] *= row;
    result.chunk[result.rank - 1] *= row;
  }
  return result;
}

// Chunks along a dimension.
std::uint64_t chunks_along(const Grid& grid, unsigned d) {
  return (grid.dims[d] + grid.chunk[d] - 1) / grid.chunk[d];
}

class Cutter {
 public:
  Cutter(const Grid& grid, std::size_t most) : grid_(joined(grid)), most_(most) {}

  // False when there are too many.
  bool add(std::uint64_t first, std::uint64_t count, std::uint64_t in_memory) {
    while (count > 0) {
      if (first < begin_ || first >= end_) enter(first);
      const std::uint64_t here = std::min(count, end_ - first);
      if (!add({chunk_, in_chunk_ + (first - begin_), in_memory, here})) return false;
      first += here;
      in_memory += here;
      count -= here;
    }
    return true;
  }

  // By chunk. There are far fewer chunks than fragments, and neighbours often lie in the same one.
  std::vector<Fragment> take() {
    if (std::ranges::is_sorted(fragments_, {}, &Fragment::chunk)) return std::move(fragments_);
    std::map<std::uint64_t, std::size_t> ends;  // of each chunk's fragments, once all are counted
    each_chunk(fragments_,
               [&](std::span<const Fragment> same) { ends[same.front().chunk] += same.size(); });
    std::size_t all = 0;
    for (auto& [chunk, end] : ends) all += std::exchange(end, all);
    std::vector<Fragment> sorted(fragments_.size());
    each_chunk(fragments_, [&](std::span<const Fragment> same) {
      std::size_t& end = ends[same.front().chunk];
      std::ranges::copy(same, sorted.begin() + static_cast<std::ptrdiff_t>(end));
      end += same.size();
    });
    return sorted;
  }

 private:
  // The part of a row of the array that lies in one chunk, with that element.
  void enter(std::uint64_t first) {
    const unsigned last = grid_.rank - 1;
    const std::uint64_t column = first % grid_.dims[last];
    const std::uint64_t width = grid_.chunk[last];
    begin_ = first - column % width;
    end_ = std::min(begin_ + width, first - column + grid_.dims[last]);
    chunk_ = column / width;
    in_chunk_ = 0;
    std::uint64_t row = first / grid_.dims[last];
    std::uint64_t chunks = chunks_along(grid_, last);
    std::uint64_t elements = width;
    for (unsigned d = last; d-- > 0;) {
      const std::uint64_t at = row % grid_.dims[d];
      row /= grid_.dims[d];
      chunk_ += at / grid_.chunk[d] * chunks;
      in_chunk_ += at % grid_.chunk[d] * elements;
      chunks *= chunks_along(grid_, d);
      elements *= grid_.chunk[d];
    }
  }

  bool add(const Fragment& fragment) {
    if (!fragments_.empty()) {
      Fragment& last = fragments_.back();
      if (last.chunk == fragment.chunk && last.in_chunk + last.count == fragment.in_chunk &&
          last.in_memory + last.count == fragment.in_memory) {
        last.count += fragment.count;
        return true;
      }
    }
    if (fragments_.size() == most_) return false;
    fragments_.push_back(fragment);
    return true;
  }

  Grid grid_;
  std::size_t most_;
  // The part of a row that was entered last: its elements, the chunk, and its place there.
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t chunk_ = 0;
  std::uint64_t in_chunk_ = 0;
  std::vector<Fragment> fragments_;
};

// Where a fragment begins, in elements; `before`: those of the fragments before it.
constexpr auto kInChunk = [](const Fragment& one, std::uint64_t /*before*/) {
  return one.in_chunk;
};
constexpr auto kInMemory = [](const Fragment& one, std::uint64_t /*before*/) {
  return one.in_memory;
};
constexpr auto kInOrder = [](const Fragment& /*one*/, std::uint64_t before) { return before; };

template <typename FromAt, typename ToAt>
void copy_each(std::span<const Fragment> fragments, std::size_t element, const std::byte* from,
               const FromAt& from_at, std::byte* to, const ToAt& to_at) {
  std::uint64_t before = 0;
  for (const Fragment& one : fragments) {
    const std::byte* source = from + from_at(one, before) * element;
    std::byte* target = to + to_at(one, before) * element;
    const std::size_t bytes = one.count * element;
    if (bytes == 8)  // a single number, most often: its size is known here
      std::memcpy(target, source, 8);
    else if (bytes == 4)
      std::memcpy(target, source, 4);
    else
      std::memcpy(target, source, bytes);
    before += one.count;
  }
}

}  // namespace

std::optional<std::vector<Fragment>> fragments_of(const Grid& grid, std::span<const Run> file,
                                                  std::span<const Run> memory, std::size_t most) {
  Cutter cutter(grid, most);
  std::size_t m = 0;
  std::uint64_t used = 0;  // of that run of memory
  for (const Run& run : file)
    for (std::uint64_t done = 0; done < run.count;) {
      const std::uint64_t count = std::min(run.count - done, memory[m].count - used);
      if (!cutter.add(run.first + done, count, memory[m].first + used)) return std::nullopt;
      done += count;
      used += count;
      if (used < memory[m].count) continue;
      used = 0;
      ++m;
    }
  return cutter.take();
}

Index origin_of(const Grid& grid, std::uint64_t chunk) {
  Index origin{};
  for (unsigned d = grid.rank; d-- > 0;) {
    const std::uint64_t along = chunks_along(grid, d);
    origin[d] = chunk % along * grid.chunk[d];
    chunk /= along;
  }
  return origin;
}

void gather(std::span<const Fragment> fragments, std::size_t element, const std::byte* chunk,
            std::byte* memory) {
  copy_each(fragments, element, chunk, kInChunk, memory, kInMemory);
}

void scatter(std::span<const Fragment> fragments, std::size_t element, const std::byte* memory,
             std::byte* chunk) {
  copy_each(fragments, element, memory, kInMemory, chunk, kInChunk);
}

void gather_in_order(std::span<const Fragment> fragments, std::size_t element,
                     const std::byte* chunk, std::byte* buffer) {
  copy_each(fragments, element, chunk, kInChunk, buffer, kInOrder);
}

void scatter_in_order(std::span<const Fragment> fragments, std::size_t element,
                      const std::byte* buffer, std::byte* chunk) {
  copy_each(fragments, element, buffer, kInOrder, chunk, kInChunk);
}

void take_from_memory(std::span<const Fragment> fragments, std::size_t element,
                      const std::byte* memory, std::byte* buffer) {
  copy_each(fragments, element, memory, kInMemory, buffer, kInOrder);
}

void put_in_memory(std::span<const Fragment> fragments, std::size_t element,
                   const std::byte* buffer, std::byte* memory) {
  copy_each(fragments, element, buffer, kInOrder, memory, kInMemory);
}

}  // namespace headrace::engine

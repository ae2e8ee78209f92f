#include "engine/box.hpp"

#include <algorithm>
#include <cstring>

namespace headrace::engine {
namespace {

// Dimensions of a copy after neighbours that lie dense on both sides became one.
struct Dimension {
  std::uint64_t count;
  std::uint64_t from;  // strides
  std::uint64_t to;
};

struct Loops {
  std::array<Dimension, kMaxRank> dims;
  unsigned rank = 0;
  std::size_t run;  // bytes that are dense on both sides

  Loops(unsigned count_rank, const Index& count, std::size_t element, const Index& from,
        const Index& to)
      : run(element) {
    unsigned d = count_rank;
    while (d > 0 && (count[d - 1] == 1 || (from[d - 1] == run && to[d - 1] == run)))
      run *= count[--d];
    for (unsigned i = 0; i < d; ++i)
      if (count[i] != 1) dims.at(rank++) = {count[i], from[i], to[i]};
  }
};

// Runs of a size the compiler knows: single elements are far from dense copies.
template <std::size_t size>
void copy_runs(const Dimension& inner, const std::byte* from, std::byte* to, std::size_t run) {
  for (std::uint64_t i = 0; i < inner.count; ++i) {
    std::memcpy(to, from, size == 0 ? run : size);
    from += inner.from;
    to += inner.to;
  }
}

using CopyRuns = void (*)(const Dimension&, const std::byte*, std::byte*, std::size_t);

CopyRuns copier_of(std::size_t run) {
  switch (run) {
    case 1:
      return &copy_runs<1>;
    case 2:
      return &copy_runs<2>;
    case 4:
      return &copy_runs<4>;
    case 8:
      return &copy_runs<8>;
    case 16:
      return &copy_runs<16>;
    default:
      return &copy_runs<0>;
  }
}

// Calls `innermost` for each position of the outer dimensions.
template <typename Innermost>
void nest(const Dimension* dims, unsigned rank, const std::byte* from, std::byte* to,
          const Innermost& innermost) {
  if (rank == 1) {
    innermost(dims[0], from, to);
    return;
  }
  for (std::uint64_t i = 0; i < dims[0].count; ++i)
    nest(dims + 1, rank - 1, from + i * dims[0].from, to + i * dims[0].to, innermost);
}

}  // namespace

Index strides_of(unsigned rank, const Index& dims, std::size_t element) {
  Index strides{};
  std::uint64_t stride = element;
  for (unsigned d = rank; d-- > 0;) {
    strides[d] = stride;
    stride *= dims[d];
  }
  return strides;
}

std::size_t offset_of(unsigned rank, const Index& start, const Index& strides) {
  std::size_t offset = 0;
  for (unsigned d = 0; d < rank; ++d) offset += start[d] * strides[d];
  return offset;
}

std::uint64_t volume(unsigned rank, const Index& count) {
  std::uint64_t elements = 1;
  if (std::find(count.begin(), count.begin() + rank, 0U) != count.begin() + rank) return 0;
  for (unsigned d = 0; d < rank; ++d)
    if (__builtin_mul_overflow(elements, count[d], &elements)) return ~std::uint64_t{0};
  return elements;
}

void copy_box(unsigned rank, const Index& count, std::size_t element, const std::byte* from,
              const Index& from_strides, std::byte* to, const Index& to_strides) {
  if (volume(rank, count) == 0) return;
  const Loops loops(rank, count, element, from_strides, to_strides);
  if (loops.rank == 0) {
    std::memcpy(to, from, loops.run);
    return;
  }
  const CopyRuns copy = copier_of(loops.run);
  nest(loops.dims.data(), loops.rank, from, to,
       [&](const Dimension& inner, const std::byte* source, std::byte* target) {
         copy(inner, source, target, loops.run);
       });
}

void fill_all(std::span<const std::byte> element, std::span<std::byte> to) {
  if (to.empty()) return;
  if (std::ranges::all_of(element, [](std::byte byte) { return byte == std::byte{0}; })) {
    std::ranges::fill(to, std::byte{0});
    return;
  }
  std::size_t done = std::min(element.size(), to.size());
  std::memcpy(to.data(), element.data(), done);
  while (done < to.size()) {  // what is there, once more behind it
    const std::size_t more = std::min(done, to.size() - done);
    std::memcpy(to.data() + done, to.data(), more);
    done += more;
  }
}

void fill_box(unsigned rank, const Index& count, std::span<const std::byte> element, std::byte* to,
              const Index& to_strides) {
  if (volume(rank, count) == 0) return;
  const Loops loops(rank, count, element.size(), to_strides, to_strides);
  if (loops.rank == 0) {
    fill_all(element, {to, loops.run});
    return;
  }
  nest(loops.dims.data(), loops.rank, to, to,
       [&](const Dimension& inner, const std::byte* /*from*/, std::byte* target) {
         for (std::uint64_t i = 0; i < inner.count; ++i)
           fill_all(element, {target + i * inner.to, loops.run});
       });
}

bool Grid::countable() const {
  Index chunks{};
  for (unsigned d = 0; d < rank; ++d)
    chunks[d] = dims[d] / chunk[d] + (dims[d] % chunk[d] == 0 ? 0 : 1);
  return volume(rank, chunks) < ~std::uint64_t{0} >> 1;
}

bool Grid::aligned(const Box& box) const {
  for (unsigned d = 0; d < rank; ++d) {
    const std::uint64_t end = box.start[d] + box.count[d];
    if (box.start[d] % chunk[d] != 0 || (end % chunk[d] != 0 && end != dims[d])) return false;
  }
  return true;
}

Pieces::Pieces(const Grid& grid, const Box& box, const Index& step)
    : grid_(grid), box_(box), step_(step) {}

// How many of the elements from the one that comes next on lie in its chunk.
std::uint64_t Pieces::count_at(unsigned d) const {
  const std::uint64_t next = box_.start[d] + at_[d] * step_[d];
  const std::uint64_t before_end = grid_.chunk[d] - next % grid_.chunk[d];
  return std::min(box_.count[d] - at_[d], (before_end - 1) / step_[d] + 1);
}

bool Pieces::next(Piece& piece) {
  if (!more_) return false;
  piece.chunk = 0;
  piece.covers = true;
  piece.whole = true;
  for (unsigned d = 0; d < grid_.rank; ++d) {
    const std::uint64_t size = grid_.chunk[d];
    const std::uint64_t first = box_.start[d] + at_[d] * step_[d];
    const std::uint64_t begin = first / size * size;
    const std::uint64_t count = count_at(d);
    piece.origin[d] = begin;
    piece.box.start[d] = first;
    piece.box.count[d] = count;
    piece.covers = piece.covers && count == std::min(grid_.dims[d] - begin, size);
    piece.whole = piece.whole && count == size;
    piece.chunk = piece.chunk * ((grid_.dims[d] - 1) / size + 1) + first / size;
  }
  unsigned d = grid_.rank;
  while (d > 0 && at_[d - 1] + piece.box.count[d - 1] == box_.count[d - 1]) at_[--d] = 0;
  more_ = d > 0;
  if (more_) at_[d - 1] += piece.box.count[d - 1];
  return true;
}

}  // namespace headrace::engine

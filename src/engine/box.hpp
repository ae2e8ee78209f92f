// Boxes of N-dimensional arrays: copying them, and cutting them at the borders of chunks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace headrace::engine {

inline constexpr unsigned kMaxRank = 32;

// One number per dimension, slowest first. What lies beyond the rank is 0.
using Index = std::array<std::uint64_t, kMaxRank>;

struct Box {
  Index start{};
  Index count{};
};

// Bytes between neighbours in each dimension of a dense array.
Index strides_of(unsigned rank, const Index& dims, std::size_t element);

std::size_t offset_of(unsigned rank, const Index& start, const Index& strides);

// The number of elements; ~0 when it does not fit.
std::uint64_t volume(unsigned rank, const Index& count);

// Copies count[0] x count[1] x ... elements between two arrays, given their strides in bytes.
void copy_box(unsigned rank, const Index& count, std::size_t element, const std::byte* from,
              const Index& from_strides, std::byte* to, const Index& to_strides);

// Puts one element everywhere.
void fill_box(unsigned rank, const Index& count, std::span<const std::byte> element, std::byte* to,
              const Index& to_strides);
void fill_all(std::span<const std::byte> element, std::span<std::byte> to);

// A part of a box that lies in one chunk.
struct Piece {
  std::uint64_t chunk = 0;  // its place among all chunks, row-major
  Index origin{};           // of the chunk in the array
  Box box;                  // the first element in the array, and how many there are
  bool covers = false;      // all of the chunk that lies within the array
  bool whole = false;       // all of the chunk
};

// An array in chunks.
struct Grid {
  unsigned rank = 0;
  Index dims{};
  Index chunk{};

  // False when chunks cannot be counted in 64 bits.
  [[nodiscard]] bool countable() const;
  // Whether the box is made of chunks, as far as they lie within the array.
  [[nodiscard]] bool aligned(const Box& box) const;
};

// 1 in each dimension: the step of a box that has all elements.
inline constexpr Index kEach = [] {
  Index each{};
  each.fill(1);
  return each;
}();

// The pieces of a box in the order of their chunks; with steps, those that have some of the
// elements start, start + step, … of each dimension, `count` of them. All lie within the grid, and
// there is at least one. The arguments must outlive the object.
class Pieces {
 public:
  Pieces(const Grid& grid, const Box& box, const Index& step = kEach);
  // False at the end.
  bool next(Piece& piece);

 private:
  [[nodiscard]] std::uint64_t count_at(unsigned d) const;

  const Grid& grid_;
  const Box& box_;
  const Index& step_;
  Index at_{};  // elements of each dimension that are done
  bool more_ = true;
};

}  // namespace headrace::engine

// Which elements of a dataset were touched, as boxes with steps, and what two such sets have in
// common. No HDF5. Threads: the caller's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/box.hpp"

namespace headrace::engine {

// Of each dimension `count` elements: start, start + step, …; at least one.
struct SteppedBox {
  Box box;
  Index step = kEach;
};

class TouchedElements {
 public:
  // `most`: boxes that are kept one by one; when there are more only their bounds are.
  TouchedElements(unsigned rank, std::size_t most) : rank_(rank), most_(most) {}

  void add(const SteppedBox& more);
  // Some elements of that box, it is not known which.
  void add_bounds(const Box& box);
  [[nodiscard]] unsigned rank() const { return rank_; }
  [[nodiscard]] bool empty() const { return !any_; }
  // Whether it is known which elements between the bounds were touched.
  [[nodiscard]] bool exact() const { return exact_; }
  // The box around all that were; only where some were.
  [[nodiscard]] const Box& bounds() const { return bounds_; }

  // Elements that both have; of sets that are not exact, those within the bounds of both.
  [[nodiscard]] std::optional<Box> common(const TouchedElements& other) const;

  // The set in numbers, appended, and its inverse, which takes them off the front; and the same of
  // nothing but its bounds. Throws Error for what cannot have been made so.
  void encode(std::vector<std::uint64_t>& numbers) const;
  static TouchedElements decode(std::span<const std::uint64_t>& numbers);
  void encode_bounds(std::vector<std::uint64_t>& numbers) const;
  static TouchedElements decode_bounds(std::span<const std::uint64_t>& numbers);

 private:
  bool join(const SteppedBox& more);
  void widen(const Box& box);

  unsigned rank_;
  std::size_t most_;
  bool any_ = false;
  bool exact_ = true;
  Box bounds_;
  std::vector<SteppedBox> boxes_;
};

// The elements that both have, as the box around the first and the last; none where there are none.
std::optional<Box> common(unsigned rank, const SteppedBox& one, const SteppedBox& other);

}  // namespace headrace::engine

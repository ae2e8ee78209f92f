#include "engine/touched_elements.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace headrace::engine {
namespace {

__extension__ using Wide = __int128;

// start, start + step, … up to last.
struct Progression {
  std::uint64_t start = 0;
  std::uint64_t last = 0;
  std::uint64_t step = 1;
};

Progression along(const SteppedBox& of, unsigned d) {
  const std::uint64_t step = of.step[d];
  return {of.box.start[d], of.box.start[d] + (of.box.count[d] - 1) * step, step};
}

// The x of a * x = b modulo m, where a and m have no common divisor (extended Euclid).
Wide solve(Wide a, Wide b, Wide m) {
  Wide r0 = m;
  Wide r1 = a % m;
  Wide x0 = 0;
  Wide x1 = 1;
  while (r1 != 0) {
    const Wide q = r0 / r1;
    r0 = std::exchange(r1, r0 - q * r1);
    x0 = std::exchange(x1, x0 - q * x1);
  }
  return ((x0 * (b % m)) % m + m) % m;
}

// Numbers that are in both.
std::optional<Progression> common(const Progression& one, const Progression& other) {
  const std::uint64_t divisor = std::gcd(one.step, other.step);
  const Wide apart = static_cast<Wide>(other.start) - one.start;
  if (apart % divisor != 0) return std::nullopt;
  const Wide turns = other.step / divisor;
  const Wide k = solve(one.step / divisor, ((apart / divisor) % turns + turns) % turns, turns);
  const Wide step = turns * one.step;
  Wide first = one.start + k * one.step;  // the least one from one.start on, or before other.start
  if (first < other.start) first += (other.start - first + step - 1) / step * step;
  const Wide last = std::min(one.last, other.last);
  if (first > last) return std::nullopt;
  return Progression{static_cast<std::uint64_t>(first),
                     static_cast<std::uint64_t>(first + (last - first) / step * step),
                     static_cast<std::uint64_t>(std::min<Wide>(step, ~std::uint64_t{0}))};
}

std::uint64_t end_along(const Box& box, unsigned d) { return box.start[d] + box.count[d]; }

Box around(unsigned rank, const SteppedBox& of) {
  Box box;
  for (unsigned d = 0; d < rank; ++d) {
    const Progression all = along(of, d);
    box.start[d] = all.start;
    box.count[d] = all.last - all.start + 1;
  }
  return box;
}

void put(unsigned rank, const Index& index, std::vector<std::uint64_t>& numbers) {
  numbers.insert(numbers.end(), index.begin(), index.begin() + rank);
}

std::uint64_t take(std::span<const std::uint64_t>& numbers) {
  if (numbers.empty()) throw Error("touched elements end early");
  const std::uint64_t first = numbers.front();
  numbers = numbers.subspan(1);
  return first;
}

Index take_index(unsigned rank, std::span<const std::uint64_t>& numbers) {
  Index index{};
  for (unsigned d = 0; d < rank; ++d) index[d] = take(numbers);
  return index;
}

SteppedBox take_box(unsigned rank, std::span<const std::uint64_t>& numbers) {
  SteppedBox made{{take_index(rank, numbers), take_index(rank, numbers)},
                  take_index(rank, numbers)};
  for (unsigned d = 0; d < rank; ++d)
    if (made.box.count[d] == 0 || made.step[d] == 0) throw Error("touched elements are none");
  return made;
}

}  // namespace

std::optional<Box> common(unsigned rank, const SteppedBox& one, const SteppedBox& other) {
  Box box;
  for (unsigned d = 0; d < rank; ++d) {
    const auto both = common(along(one, d), along(other, d));
    if (!both) return std::nullopt;
    box.start[d] = both->start;
    box.count[d] = both->last - both->start + 1;
  }
  return box;
}

void TouchedElements::add(const SteppedBox& more) {
  widen(around(rank_, more));
  if (!exact_ || join(more)) return;
  if (boxes_.size() < most_) return boxes_.push_back(more);
  exact_ = false;
  boxes_ = {};
}

void TouchedElements::add_bounds(const Box& box) {
  widen(box);
  exact_ = false;
  boxes_ = {};
}

void TouchedElements::widen(const Box& box) {
  for (unsigned d = 0; d < rank_; ++d) {
    const std::uint64_t first = any_ ? std::min(bounds_.start[d], box.start[d]) : box.start[d];
    const std::uint64_t end =
        any_ ? std::max(end_along(bounds_, d), end_along(box, d)) : end_along(box, d);
    bounds_.start[d] = first;
    bounds_.count[d] = end - first;
  }
  any_ = true;
}

// Whether it begins where the last one ends, in one dimension, or is the last one.
bool TouchedElements::join(const SteppedBox& more) {
  if (boxes_.empty()) return false;
  SteppedBox& last = boxes_.back();
  if (last.step != more.step) return false;
  unsigned apart = rank_;
  for (unsigned d = 0; d < rank_; ++d) {
    if (more.box.start[d] == last.box.start[d] && more.box.count[d] == last.box.count[d]) continue;
    if (apart < rank_ || more.box.start[d] != last.box.start[d] + last.box.count[d] * last.step[d])
      return false;
    apart = d;
  }
  if (apart < rank_) last.box.count[apart] += more.box.count[apart];
  return true;
}

std::optional<Box> TouchedElements::common(const TouchedElements& other) const {
  if (!any_ || !other.any_ || rank_ != other.rank_) return std::nullopt;
  const SteppedBox here{bounds_, kEach};
  const SteppedBox there{other.bounds_, kEach};
  auto both = engine::common(rank_, here, there);
  if (!both || !exact_ || !other.exact_) return both;
  for (const SteppedBox& one : boxes_) {
    if (!engine::common(rank_, one, there)) continue;
    for (const SteppedBox& each : other.boxes_)
      if (auto found = engine::common(rank_, one, each)) return found;
  }
  return std::nullopt;
}

void TouchedElements::encode(std::vector<std::uint64_t>& numbers) const {
  encode_bounds(numbers);
  numbers.push_back(exact_ ? 1 : 0);
  numbers.push_back(boxes_.size());
  for (const SteppedBox& one : boxes_)
    for (const Index* const index : {&one.box.start, &one.box.count, &one.step})
      put(rank_, *index, numbers);
}

void TouchedElements::encode_bounds(std::vector<std::uint64_t>& numbers) const {
  numbers.push_back(rank_);
  numbers.push_back(any_ ? 1 : 0);
  put(rank_, bounds_.start, numbers);
  put(rank_, bounds_.count, numbers);
}

TouchedElements TouchedElements::decode_bounds(std::span<const std::uint64_t>& numbers) {
  const std::uint64_t rank = take(numbers);
  if (rank > kMaxRank) throw Error("touched elements have " + std::to_string(rank) + " dimensions");
  TouchedElements made(static_cast<unsigned>(rank), 0);
  made.any_ = take(numbers) != 0;
  made.bounds_.start = take_index(made.rank_, numbers);
  made.bounds_.count = take_index(made.rank_, numbers);
  made.exact_ = false;
  return made;
}

TouchedElements TouchedElements::decode(std::span<const std::uint64_t>& numbers) {
  TouchedElements made = decode_bounds(numbers);
  made.exact_ = take(numbers) != 0;
  for (std::uint64_t left = take(numbers); left > 0; --left)
    made.boxes_.push_back(take_box(made.rank_, numbers));
  made.most_ = made.boxes_.size();
  return made;
}

}  // namespace headrace::engine

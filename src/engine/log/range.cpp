#include "engine/log/range.hpp"

#include <algorithm>

namespace headrace::engine::log {
namespace {

bool are_same(std::span<const Run> runs, std::span<const Run> others, std::uint64_t offset) {
  return std::ranges::equal(runs, others, [&](const Run& one, const Run& other) {
    return one.first == other.first + offset && one.count == other.count;
  });
}

// Both ascend.
bool are_apart(std::span<const Run> runs, std::span<const Run> others, std::uint64_t offset) {
  auto one = runs.begin();
  auto other = others.begin();
  while (one != runs.end() && other != others.end()) {
    if (one->first + one->count <= other->first + offset)
      ++one;
    else if (other->first + offset + other->count <= one->first)
      ++other;
    else
      return false;
  }
  return true;
}

}  // namespace

Range::Range(std::span<const Run> runs) : runs_(runs), before_(runs.size()) {
  for (std::size_t i = 1; i < runs.size(); ++i) before_[i] = before_[i - 1] + runs[i - 1].count;
}

Range::Rows Range::find_rows(std::uint64_t stride) const {
  Rows rows{stride, begin() / stride, 0};
  const std::uint64_t end = (rows.first + 1) * stride;
  const auto in_row = [&](const Run& run) { return run.first + run.count <= end; };
  const auto size =
      static_cast<std::size_t>(std::ranges::partition_point(runs_, in_row) - runs_.begin());
  if (size == 0 || runs_.size() % size != 0) return rows;
  for (std::size_t i = size; i < runs_.size(); ++i)
    if (runs_[i].first - runs_[i - size].first != stride || runs_[i].count != runs_[i - size].count)
      return rows;
  rows.runs = size;
  return rows;
}

const Range::Rows& Range::rows(std::uint64_t stride) {
  if (rows_.stride != stride) rows_ = find_rows(stride);
  return rows_;
}

bool Range::is(const Pattern& pattern, std::uint64_t first) {
  if (first != begin() || pattern.extent() != end() - begin() || pattern.elements() != elements())
    return false;
  const auto repeats = pattern.repeats();
  if (repeats.empty()) return are_same(runs_, pattern.runs(), first);
  if (repeats.size() > 1) return false;
  const Rows& same = rows(repeats.front().stride);
  return same.runs > 0 && runs_.size() / same.runs == repeats.front().count &&
         are_same(runs_.first(same.runs), pattern.runs(), first);
}

bool Range::misses(const Pattern& pattern, std::uint64_t first) {
  const auto repeats = pattern.repeats();
  if (repeats.size() != 1 || !pattern.ascends()) return false;
  const std::uint64_t stride = repeats.front().stride;
  const std::uint64_t row = first / stride;
  const std::uint64_t reach = pattern.extent() - (repeats.front().count - 1) * stride;
  if (first - row * stride + reach > stride) return false;  // it does not lie within rows
  const Rows& same = rows(stride);
  // The first row that both have would be like any other.
  return same.runs > 0 && are_apart(runs_.first(same.runs), pattern.runs(),
                                    first - row * stride + same.first * stride);
}

}  // namespace headrace::engine::log

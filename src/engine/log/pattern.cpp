#include "engine/log/pattern.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "engine/varint.hpp"

namespace headrace::engine {
namespace {

constexpr std::uint64_t kNone = ~std::uint64_t{0};

// HDF5 joins runs across the end of a row, which hides that the rows are alike.
std::vector<Run> cut_at_rows(const std::vector<Run>& runs, std::uint64_t row) {
  std::vector<Run> result;
  result.reserve(runs.size());
  for (Run run : runs)
    while (run.count > 0) {
      const std::uint64_t within = run.first % row;
      std::uint64_t count = run.count;
      if (within != 0) count = std::min(count, row - within);
      result.push_back({run.first, count});
      run = {run.first + count, run.count - count};
    }
  return result;
}

bool ascend(const std::vector<Run>& runs) {
  for (std::size_t i = 1; i < runs.size(); ++i)
    if (runs[i].first < runs[i - 1].first + runs[i - 1].count) return false;
  return true;
}

// A difference that wraps around, of multiples of the unit.
void put_quotient(std::string& bytes, std::uint64_t difference, std::uint64_t unit) {
  if (unit == 1) return put_signed(bytes, difference);  // the usual case, without a division
  const bool negative = difference >> 63U != 0;
  const std::uint64_t size = (negative ? 0 - difference : difference) / unit;
  put_signed(bytes, negative ? 0 - size : size);
}

[[noreturn]] void damaged() {
  throw Error("a pattern of the log's index is damaged", ErrorKind::corrupt);
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) damaged();
  return result;
}

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) damaged();
  return result;
}

}  // namespace

Pattern::Pattern(std::vector<Run> runs, std::span<const std::uint64_t> strides)
    : runs_(std::move(runs)) {
  if (ascend(runs_)) {
    if (!strides.empty()) runs_ = cut_at_rows(runs_, strides.back());
    fold(strides);
  }
  const std::uint64_t first = std::ranges::min(runs_, {}, &Run::first).first;
  for (Run& run : runs_) run.first -= first;
  measure();
}

// The runs of the first row are kept where those of all others are the same.
void Pattern::fold(std::span<const std::uint64_t> strides) {
  for (const std::uint64_t stride : strides) {
    const std::size_t all = runs_.size();
    const auto in_row = [&, row = runs_[0].first / stride](const Run& run) {
      return run.first / stride == row;
    };
    const auto size =
        static_cast<std::size_t>(std::ranges::partition_point(runs_, in_row) - runs_.begin());
    if (size == all || all % size != 0) continue;
    const std::uint64_t distance = runs_[size].first - runs_[0].first;
    bool same = true;
    for (std::size_t i = size; i < all && same; ++i)
      same = runs_[i].count == runs_[i - size].count &&
             runs_[i].first - runs_[i - size].first == distance;
    if (!same) continue;
    repeats_.push_back({all / size, distance});
    runs_.resize(size);
  }
}

void Pattern::measure() {
  ascending_ = ascend(runs_);
  before_.reserve(runs_.size());
  for (const Run& run : runs_) {
    before_.push_back(elements_);
    elements_ = sum(elements_, run.count);
    extent_ = std::max(extent_, sum(run.first, run.count));
  }
  inner_.resize(repeats_.size());
  for (std::size_t level = repeats_.size(); level-- > 0;) {
    const Repeat& repeat = repeats_[level];
    inner_[level] = {elements_, extent_};
    elements_ = product(elements_, repeat.count);
    extent_ = sum(extent_, product(repeat.stride, repeat.count - 1));
  }
}

void Pattern::sort() {
  if (ascending_) return;
  const auto first = [&](std::size_t i) { return runs_[i].first; };
  by_first_.resize(runs_.size());
  std::iota(by_first_.begin(), by_first_.end(), std::size_t{0});
  std::ranges::sort(by_first_, {}, first);
  std::uint64_t reach = 0;
  for (const std::size_t i : by_first_)
    reaches_.push_back(reach = std::max(reach, runs_[i].first + runs_[i].count));
}

std::vector<std::size_t> Pattern::find(std::uint64_t begin, std::uint64_t end) const {
  const auto first = [&](std::size_t i) { return runs_[i].first; };
  const auto behind = std::ranges::lower_bound(by_first_, end, {}, first);
  std::vector<std::size_t> found;
  for (auto at = static_cast<std::size_t>(behind - by_first_.begin());
       at > 0 && reaches_[at - 1] > begin; --at)
    found.push_back(by_first_[at - 1]);
  std::ranges::sort(found);
  return found;
}

std::uint64_t Pattern::next(std::size_t level, std::uint64_t offset, std::uint64_t begin) const {
  if (level == repeats_.size()) {
    const std::uint64_t found = next_in_list(begin > offset ? begin - offset : 0);
    return found == kNone ? kNone : offset + found;
  }
  std::uint64_t found = kNone;
  for (std::uint64_t k = first_of(level, offset, begin); k < repeats_[level].count; ++k) {
    const std::uint64_t at = offset + k * repeats_[level].stride;
    if (at >= found || found == begin) break;
    found = std::min(found, next(level + 1, at, begin));
  }
  return found;
}

std::uint64_t Pattern::next_in_list(std::uint64_t begin) const {
  const auto from = [&](std::size_t i) {
    return i < runs_.size() ? std::max(runs_[i].first, begin) : kNone;
  };
  if (ascending_) return from(first_reaching(begin));
  if (!by_first_.empty()) {
    const auto first = [&](std::size_t i) { return runs_[i].first; };
    const auto behind = std::ranges::upper_bound(by_first_, begin, {}, first);
    if (behind != by_first_.begin() && reaches_[behind - by_first_.begin() - 1] > begin)
      return begin;
    return behind == by_first_.end() ? kNone : runs_[*behind].first;
  }
  std::uint64_t found = kNone;
  for (std::size_t i = 0; i < runs_.size(); ++i)
    if (runs_[i].first + runs_[i].count > begin) found = std::min(found, from(i));
  return found;
}

std::size_t Pattern::first_reaching(std::uint64_t begin) const {
  const auto ends_before = [&](const Run& run) { return run.first + run.count <= begin; };
  return static_cast<std::size_t>(std::ranges::partition_point(runs_, ends_before) - runs_.begin());
}

void PatternColumns::clear() {
  for (std::string* each : {&head, &gap, &count, &times}) each->clear();
}

bool Pattern::is_multiple_of(std::uint64_t unit) const {
  if (extent_ >> 63U != 0) return unit == 1;  // a gap forward would look like one back
  if (unit <= 1) return unit == 1;
  return std::ranges::all_of(
             runs_,
             [&](const Run& run) { return run.first % unit == 0 && run.count % unit == 0; }) &&
         std::ranges::all_of(repeats_,
                             [&](const Repeat& repeat) { return repeat.stride % unit == 0; });
}

void Pattern::encode(std::uint64_t unit, PatternColumns& to) const {
  put_varint(to.head, repeats_.size());
  for (const Repeat& repeat : repeats_) {
    put_varint(to.head, repeat.count);
    put_varint(to.head, repeat.stride / unit);
  }
  put_varint(to.head, runs_.size());
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < runs_.size();) {
    const std::uint64_t gap = runs_[i].first - end;
    const std::uint64_t count = runs_[i].count;
    std::uint64_t times = 0;
    for (; i < runs_.size() && runs_[i].first - end == gap && runs_[i].count == count; ++i) {
      end = runs_[i].first + count;
      ++times;
    }
    put_quotient(to.gap, gap, unit);
    put_varint(to.count, unit == 1 ? count : count / unit);
    put_varint(to.times, times);
  }
}

Pattern Pattern::decode(const PatternCursors& from, std::uint64_t unit, std::uint64_t most) {
  constexpr std::uint64_t kMostRepeats = 32;  // dimensions of a dataset
  Pattern pattern;
  const std::uint64_t repeats = take_varint(from.head);
  if (repeats > kMostRepeats) damaged();
  for (std::uint64_t i = 0; i < repeats; ++i) {
    const std::uint64_t count = take_varint(from.head);
    const std::uint64_t stride = product(take_varint(from.head), unit);
    if (count == 0 || stride == 0) damaged();
    pattern.repeats_.push_back({count, stride});
  }
  const std::uint64_t runs = take_varint(from.head);
  if (runs == 0 || runs > most) damaged();
  std::uint64_t end = 0;
  while (pattern.runs_.size() < runs) {
    const std::uint64_t gap = take_signed(from.gap);
    const std::uint64_t count = take_varint(from.count);
    const std::uint64_t times = take_varint(from.times);
    if (count == 0 || times == 0 || times > runs - pattern.runs_.size()) damaged();
    for (std::uint64_t i = 0; i < times; ++i) {
      pattern.runs_.push_back({product(end + gap, unit), product(count, unit)});
      end = sum(end + gap, count);
    }
  }
  pattern.measure();
  if (pattern.elements_ > most) damaged();
  pattern.sort();
  return pattern;
}

}  // namespace headrace::engine

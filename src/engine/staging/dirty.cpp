#include "engine/staging/dirty.hpp"

#include <bit>
#include <cstring>

namespace headrace::engine::staging {
namespace {

// The bits of the word of `begin` that belong to [begin, end).
std::uint64_t mask_of(std::uint32_t begin, std::uint32_t end) {
  const std::uint32_t first = begin % 64;
  const std::uint32_t count = std::min(64 - first, end - begin);
  return (count == 64 ? ~0ULL : (1ULL << count) - 1) << first;
}

}  // namespace

std::uint32_t Dirty::add(std::uint32_t begin, std::uint32_t end) {
  if (count_ == 0) {
    begin_ = begin;
    end_ = end;
    count_ = end - begin;
    return 0;
  }
  std::uint32_t again = 0;
  if (one_range() && begin <= end_ && end >= begin_) {
    const std::uint32_t low = std::max(begin, begin_);
    const std::uint32_t high = std::min(end, end_);
    again = high > low ? high - low : 0;
  } else {
    if (one_range()) {
      std::memset(bits_, 0, kBitmapWords * sizeof *bits_);
      set(begin_, end_);
    }
    again = set(begin, end);
  }
  begin_ = std::min(begin_, begin);
  end_ = std::max(end_, end);
  count_ += end - begin - again;
  return again;
}

void Dirty::cut(std::uint32_t end) {
  std::uint32_t count = 0;
  std::uint32_t last = begin_;
  for_each(begin_, std::min(end, end_), [&](std::uint32_t low, std::uint32_t high) {
    count += high - low;
    last = high;
  });
  if (count == 0) return clear();
  const bool bitmap = !one_range();
  count_ = count;
  if (bitmap)  // for a later add(): bits beyond end_ are clear
    for (std::uint32_t at = last; at < end_;) {
      const std::uint64_t mask = mask_of(at, end_);
      bits_[at / 64] &= ~mask;
      at = (at / 64 + 1) * 64;
    }
  end_ = last;
}

bool Dirty::covers(std::uint32_t begin, std::uint32_t end) const {
  if (begin < begin_ || end > end_ || empty()) return false;
  return one_range() || next(begin, end, false) == end;
}

std::uint32_t Dirty::ranges(std::uint32_t limit) const {
  if (one_range()) return empty() ? 0 : 1;
  std::uint32_t count = 0;
  for (std::uint32_t from = begin_; count <= limit && from < end_; ++count)
    from = next(next(from, end_, false), end_, true);
  return count;
}

std::uint32_t Dirty::set(std::uint32_t begin, std::uint32_t end) {
  std::uint32_t before = 0;
  while (begin < end) {
    const std::uint64_t mask = mask_of(begin, end);
    std::uint64_t& word = bits_[begin / 64];
    before += static_cast<std::uint32_t>(std::popcount(word & mask));
    word |= mask;
    begin = (begin / 64 + 1) * 64;
  }
  return before;
}

std::uint32_t Dirty::next(std::uint32_t from, std::uint32_t to, bool dirty) const {
  while (from < to) {
    const std::uint64_t word = dirty ? bits_[from / 64] : ~bits_[from / 64];
    const std::uint64_t found = word & mask_of(from, to);
    if (found != 0) return from / 64 * 64 + static_cast<std::uint32_t>(std::countr_zero(found));
    from = (from / 64 + 1) * 64;
  }
  return to;
}

}  // namespace headrace::engine::staging

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
    const std::uint32_t next = std::min((begin / 64 + 1) * 64, end);
    std::uint64_t& word = bits_[begin / 64];
    const std::uint64_t found = word & mask;
    if (found == mask)  // most often: counting bits is a call
      before += next - begin;
    else if (found != 0)
      before += static_cast<std::uint32_t>(std::popcount(found));
    word |= mask;
    begin = next;
  }
  return before;
}

// The first word from `first` on, before `last`, that is not like `like`; `last` where all are.
std::uint32_t Dirty::skip(std::uint32_t first, std::uint32_t last, std::uint64_t like) const {
  constexpr std::uint32_t kAtOnce = 8;
  for (; first + kAtOnce <= last; first += kAtOnce) {
    std::uint64_t other = 0;
    for (std::uint32_t i = 0; i < kAtOnce; ++i) other |= bits_[first + i] ^ like;
    if (other != 0) break;
  }
  while (first < last && bits_[first] == like) ++first;
  return first;
}

std::uint32_t Dirty::next(std::uint32_t from, std::uint32_t to, bool dirty) const {
  const std::uint64_t none = dirty ? 0 : ~std::uint64_t{0};
  while (from < to) {
    if (from % 64 == 0) {
      from = skip(from / 64, to / 64, none) * 64;
      if (from >= to) break;
    }
    const std::uint64_t found = (bits_[from / 64] ^ none) & mask_of(from, to);
    if (found != 0) return from / 64 * 64 + static_cast<std::uint32_t>(std::countr_zero(found));
    from = (from / 64 + 1) * 64;
  }
  return to;
}

}  // namespace headrace::engine::staging

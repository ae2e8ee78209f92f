// Which bytes of a page have been written: one range as long as that is enough, else a bit each.
#pragma once

#include <algorithm>
#include <cstdint>

namespace headrace::engine::staging {

inline constexpr std::uint32_t kPageBytes = 64U << 10U;
inline constexpr std::uint32_t kBitmapWords = kPageBytes / 64;

// Positions are bytes from the begin of the page; not thread-safe.
class Dirty {
 public:
  // `bits`: kBitmapWords words, not initialised, that the object may use.
  explicit Dirty(std::uint64_t* bits) : bits_(bits) {}

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] bool whole() const { return count_ == kPageBytes; }
  [[nodiscard]] std::uint32_t begin() const { return begin_; }
  [[nodiscard]] std::uint32_t end() const { return end_; }
  [[nodiscard]] std::uint32_t bytes() const { return count_; }
  [[nodiscard]] bool one_range() const { return count_ == end_ - begin_; }

  void clear() { begin_ = end_ = count_ = 0; }
  // Returns how many of the bytes had been written before.
  std::uint32_t add(std::uint32_t begin, std::uint32_t end);
  // Forgets what lies from `end` on.
  void cut(std::uint32_t end);
  [[nodiscard]] bool covers(std::uint32_t begin, std::uint32_t end) const;

  // Calls function(begin, end) for the ranges within the given bounds, in order.
  template <typename Function>
  void for_each(std::uint32_t from, std::uint32_t to, Function function) const {
    from = std::max(from, begin_);
    to = std::min(to, end_);
    if (one_range()) {
      if (from < to) function(from, to);
      return;
    }
    while ((from = next(from, to, true)) < to) {
      const std::uint32_t stop = next(from, to, false);
      function(from, stop);
      from = stop;
    }
  }
  template <typename Function>
  void for_each(Function function) const {
    for_each(begin_, end_, function);
  }
  // The number of ranges; stops counting above `limit`.
  [[nodiscard]] std::uint32_t ranges(std::uint32_t limit) const;

 private:
  // Sets bits, returns how many were set before.
  std::uint32_t set(std::uint32_t begin, std::uint32_t end);
  // The first byte in [from, to) that is, or is not, dirty; `to` where none is.
  [[nodiscard]] std::uint32_t next(std::uint32_t from, std::uint32_t to, bool dirty) const;

  [[nodiscard]] std::uint32_t skip(std::uint32_t first, std::uint32_t last,
                                   std::uint64_t like) const;

  std::uint64_t* bits_;  // valid unless one_range()
  std::uint32_t begin_ = 0;
  std::uint32_t end_ = 0;
  std::uint32_t count_ = 0;
};

}  // namespace headrace::engine::staging

// Chunks that workers decode before the program asks for them, where it goes forward through a
// dataset or has said what it will read. The program's thread only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "engine/reading/streams.hpp"
#include "engine/threads/ordered.hpp"

namespace headrace::cache {

// Of all handles of a dataset that are opened through one file.
class Ahead {
 public:
  Ahead() = default;
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;
  Ahead(Ahead&&) = delete;
  Ahead& operator=(Ahead&&) = delete;
  // Counts what is being decoded.
  ~Ahead() {
    error_of([&] { jobs_.finish(); });
  }

  // What is being decoded, in the order of the stream.
  engine::Ordered& jobs() { return jobs_; }

  // The program will read these chunks, in this order; or what it said before holds no more.
  void expect(std::vector<std::uint64_t> order) {
    order_ = std::move(order);
    asked_ = reached_ = 0;
    follows_ = false;
  }
  [[nodiscard]] bool expects() const { return !order_.empty(); }
  // The program is about to read a chunk. Calls ask(chunk) for those of the order that come within
  // the next `most`, once each.
  template <typename Ask>
  void follow_order(std::uint64_t chunk, std::uint64_t most, const Ask& ask) {
    follows_ = reached_ > 0 && chunk == order_[reached_ - 1];  // further rows of that one
    if (follows_) return;
    constexpr std::ptrdiff_t kNear = 64;  // that may be left out
    const auto from = order_.begin() + static_cast<std::ptrdiff_t>(reached_);
    const auto to = from + std::min(order_.end() - from, kNear);
    const auto found = std::find(from, to, chunk);
    follows_ = found != to;
    if (!follows_) return;
    reached_ = static_cast<std::size_t>(found - order_.begin());
    asked_ = std::max(asked_, reached_);
    for (const std::size_t end = std::min<std::uint64_t>(reached_ + 1 + most, order_.size());
         asked_ < end; ++asked_)
      ask(order_[asked_]);
    ++reached_;
  }

  // A call has read all chunks from `first` to `last`. Calls ask(chunk) for those of the next
  // calls, of the `chunks` that there are: once each, while the program goes forward. Of one call
  // at first, then of more, and at most `most` ahead.
  template <typename Ask>
  void note(std::uint64_t first, std::uint64_t last, std::uint64_t chunks, std::uint64_t most,
            const Ask& ask) {
    if (follows_) return;                          // what comes next is known
    if (first == first_ && last == last_) return;  // further rows of these
    first_ = first;
    last_ = last;
    const std::uint64_t count = last + 1 - first;
    engine::reading::Stream* const stream = streams_.add(first * kUnit, count * kUnit).stream;
    if (stream == nullptr || stream->matches < kSure) return;
    const std::uint64_t step = stream->step > 0 ? stream->step / kUnit : count;
    const unsigned doubled = std::min(stream->matches - kSure, kDoublings);
    const std::uint64_t calls = std::min(most / count, std::uint64_t{1} << doubled);
    for (std::uint64_t i = 1; i <= calls && first + i * step < chunks; ++i) {
      const std::uint64_t begin = std::max(first + i * step, stream->ahead / kUnit);
      const std::uint64_t end = std::min(first + i * step + count, chunks);
      for (std::uint64_t chunk = begin; chunk < end; ++chunk) ask(chunk);
      stream->ahead = std::max(stream->ahead, end * kUnit);
    }
  }

 private:
  static constexpr unsigned kSure = 2;  // calls that went on
  static constexpr unsigned kDoublings = 16;
  // Chunks stand for so many bytes each, as a stream of bytes may leave out few.
  static constexpr std::uint64_t kUnit = std::uint64_t{1} << 20U;
  static constexpr std::size_t kMostJobs = 256;

  std::vector<std::uint64_t> order_;
  std::size_t reached_ = 0;  // of the order, by the program's reads
  std::size_t asked_ = 0;
  bool follows_ = false;  // the call that is under way

  engine::reading::Streams streams_;
  std::uint64_t first_ = ~std::uint64_t{0};
  std::uint64_t last_ = 0;
  engine::Ordered jobs_{kMostJobs};
};

}  // namespace headrace::cache

// How a dataset without filters is read. The system keeps its bytes for all processes already, so
// it is worth caching in few cases. The program's thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/reading/pace.hpp"

namespace headrace::cache {

// What HDF5 keeps of a dataset's chunks in its own cache, in bytes: HDF5 2's default.
inline constexpr std::uint64_t kChunkCache = std::uint64_t{8} << 20U;

class Uses {
 public:
  // Chunks of a call, with numbers from `first` to `last`, in order.
  struct Call {
    std::uint64_t first;
    std::uint64_t last;
    std::uint64_t bytes;  // of all of them
  };
  // Such a call was carried out by HDF5.
  void note_left(const Call& call) {
    in_order_ = goes_on(call.first) ? in_order_ + 1 : 0;
    last_ = call;
    passed_ = 0;
  }
  // The same, from what is cached.
  void note_answered(const Call& call) {
    in_order_ = passed_ = 0;
    last_ = call;
  }
  // Whether a call whose first chunk that is goes on where the last one ended, or reads what HDF5
  // has in its own chunk cache.
  [[nodiscard]] bool goes_on(std::uint64_t first) const {
    if (!last_) return false;
    const std::uint64_t from = last_->bytes <= kChunkCache ? last_->first : last_->last;
    return first >= from && first <= last_->last + 1 + passed_;
  }
  // Whether calls have gone on for so long that looking at this one costs more than it tells.
  [[nodiscard]] bool passes_over() {
    constexpr std::size_t kOneIn = 8;
    if (in_order_ < kOneIn || passed_ + 1 == kOneIn) return false;
    ++passed_;
    return true;
  }
  // What that took: many times, as one may have been disturbed.
  void note_time(std::uint64_t bytes, std::chrono::nanoseconds time) {
    bytes_ += bytes;
    time_ += time;
    ++times_;
  }
  [[nodiscard]] bool is_slow() const {
    constexpr std::size_t kMany = 8;
    return times_ >= kMany && engine::reading::is_slow(bytes_, time_, times_);
  }

 private:
  std::optional<Call> last_;
  std::size_t in_order_ = 0;  // calls that have gone on
  std::size_t passed_ = 0;    // since the last one
  std::uint64_t bytes_ = 0;
  std::chrono::nanoseconds time_{};
  std::size_t times_ = 0;
};

}  // namespace headrace::cache

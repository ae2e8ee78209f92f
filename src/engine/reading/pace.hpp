// Whether a read took as long as a request to slow storage does.
#pragma once

#include <chrono>
#include <cstdint>

namespace headrace::engine::reading {

// As a request to a distant server takes, not one that the page cache answers.
inline bool is_slow(std::uint64_t size, std::chrono::nanoseconds time) {
  constexpr std::chrono::microseconds kLatency{100};
  return time > kLatency + std::chrono::nanoseconds(size);  // 1 GB/s
}

}  // namespace headrace::engine::reading

// Whether reads took as long as requests to slow storage do.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace headrace::engine::reading {

// As a request to a distant server takes, not one that the page cache answers.
inline bool is_slow(std::uint64_t bytes, std::chrono::nanoseconds time, std::size_t reads = 1) {
  constexpr std::chrono::microseconds kLatency{100};
  return time > reads * kLatency + std::chrono::nanoseconds(bytes);  // 1 GB/s
}

}  // namespace headrace::engine::reading

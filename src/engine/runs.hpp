// Selections as runs of elements.
#pragma once

#include <cstdint>
#include <span>

namespace headrace::engine {

// Elements that follow one another in a dataset, flattened in row-major order.
struct Run {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

inline std::uint64_t elements_of(std::span<const Run> runs) {
  std::uint64_t elements = 0;
  for (const Run& run : runs) elements += run.count;
  return elements;
}

}  // namespace headrace::engine

// Filters by their numbers in files (engine/codec/filters.def). No HDF5. Any thread.
#pragma once

namespace headrace::engine::filter_number {

#define HEADRACE_FILTER(identifier, number, name, exact) inline constexpr int identifier = number;
#include "engine/codec/filters.def"
#undef HEADRACE_FILTER

}  // namespace headrace::engine::filter_number

namespace headrace::engine {

// Whether a filter is known to give back what it was given, bit by bit.
[[nodiscard]] constexpr bool is_exact(int filter) {
  switch (filter) {
#define HEADRACE_FILTER(identifier, number, name, exact) \
  case number:                                           \
    return exact;
#include "engine/codec/filters.def"
#undef HEADRACE_FILTER
    default:
      return false;
  }
}

}  // namespace headrace::engine

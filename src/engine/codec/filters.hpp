// Filters by their numbers in files (engine/codec/filters.def). No HDF5. Any thread.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "engine/codec/pipeline.hpp"

namespace headrace::engine {

namespace filter_number {

#define HEADRACE_FILTER(identifier, number, name, exact) inline constexpr int identifier = number;
#include "engine/codec/filters.def"
#undef HEADRACE_FILTER

}  // namespace filter_number

struct KnownFilter {
  int number;
  bool exact;
};

inline constexpr auto kKnownFilters = std::to_array<KnownFilter>({
#define HEADRACE_FILTER(identifier, number, name, exact) {number, exact},
#include "engine/codec/filters.def"
#undef HEADRACE_FILTER
});

// A filter of ours with parameters as HDF5 stores them; none where another one must run, or where
// we do not know what they mean.
[[nodiscard]] std::optional<Filter> filter_of(int number, std::span<const unsigned> given);

// Whether a filter is known to give back what it was given, bit by bit.
[[nodiscard]] constexpr bool is_exact(int filter) {
  const auto* const known = std::ranges::find(kKnownFilters, filter, &KnownFilter::number);
  return known != kKnownFilters.end() && known->exact;
}

}  // namespace headrace::engine

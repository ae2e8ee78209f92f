// Random orders that are the same on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "pattern.hpp"

namespace headrace::bench {

// 0 to count - 1, each once, shuffled; the same on every machine for the same seed and epoch.
// Fisher-Yates: https://en.wikipedia.org/wiki/Fisher-Yates_shuffle
inline std::vector<std::uint64_t> shuffled(std::uint64_t count, std::uint64_t seed,
                                           std::uint64_t epoch) {
  std::vector<std::uint64_t> order(count);
  for (std::uint64_t i = 0; i < count; ++i) order[i] = i;
  const std::uint64_t key = mixed(seed) ^ mixed(~epoch);
  for (std::uint64_t i = count; i > 1; --i)
    std::swap(order[i - 1], order[value<std::uint64_t>(key, i) % i]);
  return order;
}

// One rank's part of it: every ranks-th, so that ranks share none.
inline std::vector<std::uint64_t> dealt(const std::vector<std::uint64_t>& order, int rank,
                                        int ranks) {
  std::vector<std::uint64_t> mine;
  for (auto i = static_cast<std::size_t>(rank); i < order.size();
       i += static_cast<std::size_t>(ranks))
    mine.push_back(order[i]);
  return mine;
}

}  // namespace headrace::bench

// Elements of a dataset as disjoint runs that do not touch. No HDF5.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "engine/box.hpp"
#include "engine/runs.hpp"

namespace overlap {

using headrace::engine::Index;
using headrace::engine::Run;

class Intervals {
 public:
  // How many elements of the run were there already.
  std::uint64_t add(const Run& run) {
    std::uint64_t first = run.first;
    std::uint64_t end = run.first + run.count;
    std::uint64_t overlap = 0;
    auto at = ends_.upper_bound(first);
    if (at != ends_.begin() && std::prev(at)->second >= first) --at;
    while (at != ends_.end() && at->first <= end) {
      const std::uint64_t from = std::max(at->first, run.first);
      overlap += std::max(from, std::min(at->second, run.first + run.count)) - from;
      first = std::min(first, at->first);
      end = std::max(end, at->second);
      at = ends_.erase(at);
    }
    ends_[first] = end;
    return overlap;
  }

  // Numbers the elements as another extent of `rank` dimensions does, without those outside of it.
  void renumber(unsigned rank, const Index& from, const Index& to) {
    const auto all = std::exchange(ends_, {});
    const unsigned last = rank - 1;
    for (const auto& [begin, end] : all) {
      for (std::uint64_t at = begin; at < end;) {
        const std::uint64_t column = at % from[last];
        const std::uint64_t row = std::min(end - at, from[last] - column);
        std::uint64_t rest = at / from[last];
        std::uint64_t first = column;
        std::uint64_t stride = to[last];
        bool inside = column < to[last];
        for (unsigned d = last; d-- > 0; rest /= from[d], stride *= to[d]) {
          inside = inside && rest % from[d] < to[d];
          first += rest % from[d] * stride;
        }
        if (inside) add({first, std::min(row, to[last] - column)});
        at += row;
      }
    }
  }

  [[nodiscard]] std::vector<Run> runs() const {
    std::vector<Run> all;
    all.reserve(ends_.size());
    for (const auto& [first, end] : ends_) all.push_back({first, end - first});
    return all;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;  // of runs, by their first element
};

// How many elements are in the runs of several ranks, of which each has its elements once.
inline std::uint64_t shared_elements(std::vector<Run> runs) {
  std::ranges::sort(runs, {}, &Run::first);
  std::uint64_t shared = 0;
  std::uint64_t covered = 0;  // elements before it have been looked at, of one rank at least
  std::uint64_t counted = 0;  // and of two ranks
  for (const Run& run : runs) {
    const std::uint64_t from = std::max(run.first, counted);
    const std::uint64_t until = std::min(run.first + run.count, covered);
    if (from < until) shared += until - from;
    counted = std::max(counted, until);
    covered = std::max(covered, run.first + run.count);
  }
  return shared;
}

}  // namespace overlap

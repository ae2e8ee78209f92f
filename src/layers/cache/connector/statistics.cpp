#include "layers/cache/connector/statistics.hpp"

#include <utility>
#include <vector>

#include "hdf5/report/events.hpp"

namespace headrace::cache {

Statistics& statistics() {
  static auto& statistics = *new Statistics;  // leaked: HDF5 ends after the process's statics
  return statistics;
}

void report_statistics() {
  const Statistics done = std::exchange(statistics(), {});
  std::uint64_t calls = 0;
  for (const auto& [why, count] : done.left) calls += count;
  std::vector<std::pair<std::string_view, std::uint64_t>> values{
      {"cache_hits", done.hits},
      {"cache_hit_bytes", done.hit_bytes},
      {"chunks_cached", done.filled},
      {"cached_bytes", done.filled_bytes},
      {"chunks_awaited", done.awaited},
      {"chunks_from_disk", done.from_disk},
      {"disk_bytes", done.from_disk_bytes},
      {"calls_left_to_hdf5", calls},
  };
  values.insert(values.end(), done.left.begin(), done.left.end());
  headrace::report_statistics(Seat::vol, "headrace_cache", "", values);
}

}  // namespace headrace::cache

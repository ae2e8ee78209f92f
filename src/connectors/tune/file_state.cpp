#include "connectors/tune/file_state.hpp"

#include <utility>

#include "base/events.hpp"
#include "connectors/tune/settings.hpp"
#include "drivers/tune/deferred_fill.hpp"

namespace headrace::tune {

TuneOptions::TuneOptions(const Options& options)
    : memory(number_of(kSettings, "memory", options)),
      chunk_cache(is_on(kSettings, "chunk_cache", options)),
      assume_cache(number_of(kSettings, "assume_cache", options)),
      sieve(number_of(kSettings, "sieve", options)),
      metadata_block(number_of(kSettings, "metadata_block", options)),
      metadata_cache(number_of(kSettings, "metadata_cache", options)),
      alignment(number_of(kSettings, "alignment", options)) {}

Statistics& statistics() {
  static Statistics statistics;
  return statistics;
}

void report_statistics() {
  const Statistics done = std::exchange(statistics(), {});
  const FillStatistics fills = std::exchange(fill_statistics(), {});
  const std::vector<std::pair<std::string_view, std::uint64_t>> values{
      {"properties_changed", done.lists},      {"chunk_caches_enlarged", done.caches},
      {"chunk_cache_bytes", done.cache_bytes}, {"chunk_caches_beyond_memory", done.beyond},
      {"fill_deferred_bytes", fills.deferred}, {"fill_written_bytes", fills.written},
  };
  headrace::report_statistics(Seat::vol, "headrace_tune", "", values);
}

}  // namespace headrace::tune

#include "connectors/tune/file_state.hpp"

#include <utility>

#include "base/events.hpp"
#include "drivers/tune/deferred_fill.hpp"

namespace headrace::tune {

FileState::FileState(const Options& given, const vol::Opening& opening)
    : options(given, opening.name),
      of_datasets(options.of_dataset("")),
      name(opening.name),
      parallel(vol::is_parallel(opening.fapl)),
      writes(opening.writes()) {}

DatasetOptions FileState::options_of(const vol::Object& object, H5I_type_t type,
                                     const char* name) const {
  if (!options.depend_on_path()) return of_datasets;
  std::string path = vol::name_of(object, type);
  if (name != nullptr) path = *name == '/' ? name : path + (path == "/" ? "" : "/") + name;
  return options.of_dataset(path);
}

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

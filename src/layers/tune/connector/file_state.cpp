#include "layers/tune/connector/file_state.hpp"

#include <ranges>
#include <utility>

#include "base/settings/meaning.hpp"
#include "comm/agreement.hpp"
#include "hdf5/report/events.hpp"
#include "layers/tune/driver/deferred_fill.hpp"

namespace headrace::tune {
namespace {

// As HDF5 reads it: without parts that are empty or ".".
std::string tidied(std::string_view path) {
  std::string tidy;
  for (const auto each : std::views::split(path, '/')) {
    const std::string_view part(each.begin(), each.end());
    if (!part.empty() && part != ".") tidy.append("/").append(part);
  }
  return tidy.empty() ? "/" : tidy;
}

// Those that hold for every file: there are no patterns.
struct ForAllFiles {
  explicit ForAllFiles(const Options& given)
      : options(given, ""), of_datasets(options.of_dataset("")) {}
  TuneOptions options;
  DatasetOptions of_datasets;
};

}  // namespace

FileState::FileState(const Options& given, const vol::Opening& opening)
    : options(has_patterns(given) ? TuneOptions(given, opening.name)
                                  : meaning_of<ForAllFiles>(given).options),
      of_datasets(has_patterns(given) ? options.of_dataset("")
                                      : meaning_of<ForAllFiles>(given).of_datasets),
      name(opening.name),
      parallel(vol::is_parallel(opening.fapl)),
      writes(opening.writes()) {}

DatasetOptions FileState::options_of(const vol::Object& object, H5I_type_t type,
                                     const char* name) const {
  if (!options.depend_on_path()) return of_datasets;
  std::string path = vol::name_of(object, type);
  if (name != nullptr) path = tidied(*name == '/' ? name : path + "/" + name);
  return options.of_dataset(path);
}

std::shared_ptr<FileState> agreed_state(const vol::Layer& layer, const vol::Opening& opening) {
  CommunicatorHandle ranks = vol::ranks_of(opening.fapl);
  std::shared_ptr<FileState> state;
  const auto malformed = error_of([&] {
    const auto info = vol::info_of(opening.fapl, layer);
    state = std::make_shared<FileState>(info->options, opening);
    const std::vector<std::string> over_async{"7206", "0"};  // the values of these connectors
    state->over_async =
        !info->connector->seat().serial.empty() && vol::connectors_below(*info) == over_async;
  });
  if (ranks != nullptr) agree(*ranks, malformed);
  if (malformed != nullptr) std::rethrow_exception(malformed);
  if (ranks == nullptr) return state;
  const TuneOptions& options = state->options;
  const auto mine = static_cast<std::int64_t>(std::hash<std::string>()(options.text()) >> 1U);
  if (ranks->reduce(mine, Reduction::min) != ranks->reduce(mine, Reduction::max))
    throw Error("layer tune: its options for " + state->name + " are not the same on all ranks");
  // Questions about a dataset that one rank asks would wait for the others.
  state->shares_reads = options.read_once && !options.collective_metadata &&
                        !vol::reads_metadata_together(opening.fapl);
  if (!state->shares_reads && !options.check_ranks) return state;
  state->ranks = std::move(ranks);
  if (options.check_ranks) state->check = std::make_unique<RankCheck>(*state->ranks, state->name);
  return state;
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
      {"reads_shared", done.reads_shared},     {"layouts_changed", done.layouts},
      {"fill_deferred_bytes", fills.deferred}, {"fill_written_bytes", fills.written},
      {"fill_left_out_bytes", fills.left_out},
  };
  headrace::report_statistics(Seat::vol, "headrace_tune", "", values);
}

}  // namespace headrace::tune

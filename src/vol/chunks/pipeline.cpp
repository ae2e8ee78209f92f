#include "vol/chunks/pipeline.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "engine/codec/filters.hpp"
#include "engine/threads/thread_pool.hpp"
#include "hdf5/filters/filter_plug_in.hpp"
#include "vol/chunks/layout.hpp"

namespace headrace::vol {
namespace {

namespace number = engine::filter_number;
using engine::Filter;
using Parameters = std::span<const unsigned>;  // as HDF5 stores them

// Those whose function needs nothing of HDF5 and gives the same for the same chunk and parameters,
// whatever it was given before.
struct KnownPlugIn {
  H5Z_filter_t id;
  bool reads_environment;
};
constexpr std::array kKnownPlugIns{
    KnownPlugIn{number::bzip2, false},      KnownPlugIn{number::blosc, true},
    KnownPlugIn{number::bitshuffle, false}, KnownPlugIn{number::zfp, false},
    KnownPlugIn{number::blosc2, true},
};

std::optional<Filter> plug_in_of(H5Z_filter_t id, Parameters given) {
  const auto* known = std::ranges::find(kKnownPlugIns, id, &KnownPlugIn::id);
  if (known == kKnownPlugIns.end()) return std::nullopt;
  engine::PlugInCopies* copies = copies_of_filter(id, engine::workers());
  if (copies == nullptr) return std::nullopt;
  return Filter{Filter::Kind::plug_in, 0,
                std::make_shared<engine::PlugInFilter>(*copies, given, known->reads_environment)};
}

std::optional<Filter> usable(const AppliedFilter& filter) {
  if (filter.has_more) return std::nullopt;
  // Files must stay those that this HDF5 would write and can read. Asking loads the plug-in.
  constexpr unsigned kBoth = H5Z_FILTER_CONFIG_ENCODE_ENABLED | H5Z_FILTER_CONFIG_DECODE_ENABLED;
  unsigned config = 0;
  if (h5.Zfilter_avail(filter.id) <= 0 || h5.Zget_filter_info(filter.id, &config) < 0 ||
      (config & kBoth) != kBoth)
    return std::nullopt;
  const auto own = engine::filter_of(filter.id, filter.values);
  return own ? own : plug_in_of(filter.id, filter.values);
}

}  // namespace

bool read_pipeline(hid_t dcpl, std::size_t chunk_bytes, engine::Pipeline& pipeline) {
  const auto applied = filters_of(dcpl);
  if (!applied) return false;
  bool compressed = false;
  for (const AppliedFilter& each : *applied) {
    const auto filter = usable(each);
    if (!filter) return false;
    if (engine::compresses(filter->kind)) {
      if (compressed ||
          (filter->kind != Filter::Kind::deflate && chunk_bytes > engine::kLargestChunk))
        return false;
      compressed = true;
    }
    pipeline.push_back(*filter);
  }
  return !applied->empty();
}

}  // namespace headrace::vol

#include "connectors/async/chunks/pipeline.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "engine/codec/zstd.hpp"
#include "engine/threads/thread_pool.hpp"
#include "hdf5/filter_plug_in.hpp"

namespace headrace::async {
namespace {

using engine::Filter;
using Parameters = std::span<const unsigned>;  // the filter's parameters, as HDF5 stores them
using enum Filter::Kind;

constexpr H5Z_filter_t kLzf = 32000;
constexpr H5Z_filter_t kLz4 = 32004;
constexpr H5Z_filter_t kZstd = 32015;

// Those whose function needs nothing of HDF5 and gives the same for the same chunk and parameters,
// whatever it was given before.
struct KnownPlugIn {
  H5Z_filter_t id;
  bool reads_environment;
};
constexpr std::array kKnownPlugIns{
    KnownPlugIn{307, false},    // BZip2
    KnownPlugIn{32001, true},   // Blosc
    KnownPlugIn{32008, false},  // Bitshuffle
    KnownPlugIn{32013, false},  // ZFP
    KnownPlugIn{32026, true},   // Blosc2
};

std::optional<Filter> zstd_of(Parameters given) {
  constexpr int kDefaultLevel = 3;
  if (given.size() > 1) return std::nullopt;
  const int level = given.empty() ? kDefaultLevel : static_cast<int>(given[0]);
  if (level < engine::lowest_zstd_level() || level > engine::highest_zstd_level())
    return std::nullopt;
  return Filter{zstd, static_cast<unsigned>(level)};
}

// The filter's revision, liblzf's version, bytes of a chunk.
std::optional<Filter> lzf_of(Parameters given) {
  constexpr unsigned kLastRevision = 4;
  constexpr unsigned kVersion = 0x0105;
  if (given.size() != 3 || given[0] > kLastRevision || given[1] != kVersion) return std::nullopt;
  return Filter{lzf};
}

std::optional<Filter> plug_in_of(H5Z_filter_t id, Parameters given) {
  const auto* known = std::ranges::find(kKnownPlugIns, id, &KnownPlugIn::id);
  if (known == kKnownPlugIns.end()) return std::nullopt;
  engine::PlugInCopies* copies = copies_of_filter(id, engine::workers());
  if (copies == nullptr) return std::nullopt;
  return Filter{plug_in, 0,
                std::make_shared<engine::PlugInFilter>(*copies, given, known->reads_environment)};
}

std::optional<Filter> filter_of(H5Z_filter_t id, Parameters given) {
  switch (id) {
    case H5Z_FILTER_FLETCHER32:
      return Filter{fletcher32};
    case H5Z_FILTER_SHUFFLE:
      if (given.size() != 1 || given[0] == 0) return std::nullopt;
      return Filter{shuffle, given[0]};
    case H5Z_FILTER_DEFLATE:
      if (given.size() != 1 || given[0] > 9) return std::nullopt;
      return Filter{deflate, given[0]};
    case kZstd:
      return zstd_of(given);
    case kLzf:
      return lzf_of(given);
    case kLz4:
      if (given.size() > 1) return std::nullopt;
      return Filter{lz4, given.empty() ? 0 : given[0]};
    default:
      return plug_in_of(id, given);
  }
}

std::optional<Filter> read_filter(hid_t dcpl, unsigned place) {
  std::array<unsigned, 64> values{};
  std::size_t count = values.size();
  unsigned flags = 0;
  const H5Z_filter_t id =
      h5.Pget_filter2(dcpl, place, &flags, &count, values.data(), 0, nullptr, nullptr);
  if (id < 0 || count > values.size()) return std::nullopt;
  // Files must stay those that this HDF5 would write and can read. Asking loads the plug-in.
  constexpr unsigned kBoth = H5Z_FILTER_CONFIG_ENCODE_ENABLED | H5Z_FILTER_CONFIG_DECODE_ENABLED;
  unsigned config = 0;
  if (h5.Zfilter_avail(id) <= 0 || h5.Zget_filter_info(id, &config) < 0 ||
      (config & kBoth) != kBoth)
    return std::nullopt;
  return filter_of(id, Parameters(values).first(count));
}

}  // namespace

bool read_pipeline(hid_t dcpl, std::size_t chunk_bytes, engine::Pipeline& pipeline) {
  const int count = h5.Pget_nfilters(dcpl);
  bool compressed = false;
  for (int i = 0; i < count; ++i) {
    const auto filter = read_filter(dcpl, static_cast<unsigned>(i));
    if (!filter) return false;
    if (engine::compresses(filter->kind)) {
      if (compressed || (filter->kind != deflate && chunk_bytes > engine::kLargestChunk))
        return false;
      compressed = true;
    }
    pipeline.push_back(*filter);
  }
  return count > 0;
}

}  // namespace headrace::async

#include "vol/chunks/layout.hpp"

#include <algorithm>
#include <array>

#include "engine/codec/filters.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/dataset/elements.hpp"

namespace headrace::vol {
namespace {

std::optional<AppliedFilter> filter_at(hid_t dcpl, unsigned place) {
  AppliedFilter filter;
  filter.values.resize(kMostFilterValues);
  std::array<char, 256> name{};
  std::size_t given = filter.values.size();
  unsigned flags = 0;
  filter.id = h5.Pget_filter2(dcpl, place, &flags, &given, filter.values.data(), name.size(),
                              name.data(), nullptr);
  if (filter.id < 0) return std::nullopt;
  filter.has_more = given > filter.values.size();
  filter.values.resize(std::min(given, filter.values.size()));
  filter.name = name.data();
  return filter;
}

}  // namespace

Id<Kind::plist> creation_list(const Object& dataset) {
  const PrivateErrors own;
  return Id<Kind::plist>(get(dataset, H5VL_DATASET_GET_DCPL).args.get_dcpl.dcpl_id);
}

bool is_virtual(const Object& dataset) {
  return h5.Pget_layout(creation_list(dataset).get()) == H5D_VIRTUAL;
}

std::optional<ChunkShape> chunk_shape(hid_t dcpl) {
  if (h5.Pget_layout(dcpl) != H5D_CHUNKED) return std::nullopt;
  ChunkShape shape;
  std::array<hsize_t, engine::kMaxRank> lengths{};
  const int rank = h5.Pget_chunk(dcpl, static_cast<int>(lengths.size()), lengths.data());
  if (rank <= 0) return std::nullopt;
  shape.rank = static_cast<unsigned>(rank);
  std::ranges::copy(lengths, shape.lengths.begin());
  return shape;
}

bool filters_all_chunks(hid_t dcpl) {
  unsigned options = 0;
  return h5.Pget_chunk_opts(dcpl, &options) >= 0 && options == 0;
}

std::optional<std::vector<AppliedFilter>> filters_of(hid_t dcpl) {
  const int count = h5.Pget_nfilters(dcpl);
  if (count < 0) return std::nullopt;
  std::vector<AppliedFilter> filters;
  for (unsigned i = 0; i < static_cast<unsigned>(count); ++i) {
    auto filter = filter_at(dcpl, i);
    if (!filter) return std::nullopt;
    filters.push_back(*std::move(filter));
  }
  return filters;
}

std::optional<AppliedFilter> inexact_filter(const std::vector<AppliedFilter>& filters) {
  const auto found = std::ranges::find_if_not(filters, engine::is_exact, &AppliedFilter::id);
  if (found == filters.end()) return std::nullopt;
  return *found;
}

}  // namespace headrace::vol

#include "objects/check/blobs.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "objects/format/stored_chunk.hpp"

namespace headrace::objects {
namespace {

// Whether a chunk has no element within an extent. A dataset of which it is not known how long its
// chunks are has ones of an element or more.
bool is_beyond(const ChunkKey& key, const std::vector<std::uint64_t>& chunk,
               const std::vector<std::uint64_t>& dims) {
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const std::uint64_t length = chunk.empty() ? 1 : chunk[d];
    if (dims[d] == 0 || key.at[d] > (dims[d] - 1) / length) return true;
  }
  return false;
}

}  // namespace

const char* why_garbage(store::Store& store, const Survey& survey, const ListedChunk& chunk) {
  const ChunkKey& of = chunk.of;
  if (!survey.is_living(of.dataset)) return "a chunk of a dataset that is gone";
  if (!survey.is_living(of.dataset, Header::Kind::dataset)) return nullptr;
  const Surveyed& dataset = survey.objects.at(of.dataset);
  if (of.at.size() != dataset.dims.size()) return nullptr;
  const bool is_behind = is_beyond(of, dataset.chunk, dataset.dims);
  if (!is_behind && (dataset.chunk.empty() || dataset.cuts.empty())) return nullptr;
  std::array<std::byte, kMostHead> front{};
  const auto info = store.get(chunk.key, 0, front);
  if (!info) return nullptr;
  const std::uint64_t epoch =
      decode_head(std::span(front).first(std::min(front.size(), info->size))).epoch;
  // The header is an older one than that which the chunk was written under.
  if (epoch > dataset.epoch) return nullptr;
  if (is_behind) return "a chunk beyond the extent";
  const auto cut = std::ranges::upper_bound(dataset.cuts, epoch, {}, &Cut::epoch);
  const bool is_cut_off = cut != dataset.cuts.end() && is_beyond(of, dataset.chunk, cut->dims);
  return is_cut_off ? "a chunk that was cut off" : nullptr;
}

}  // namespace headrace::objects

#include "layers/cache/connector/cached_dataset.hpp"

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "base/report/log.hpp"
#include "engine/reading/pieces.hpp"
#include "hdf5/filters/native_chunks.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/chunks/layout.hpp"

namespace headrace::cache {
namespace {

constexpr vol::Reason kLeftForFile = "left_for_file";
constexpr vol::Reason kLeftForLayout = "left_for_layout";
constexpr vol::Reason kLeftForFilters = "left_for_filters";
constexpr vol::Reason kLeftForSize = "left_for_size";

// What is kept with a handle.
struct Handle {
  bool asked = false;
  std::optional<CachedDataset> dataset;
  vol::Reason why;
};

constexpr std::size_t kBlock = std::size_t{1} << 20U;  // bytes of contiguous datasets

struct Layout {
  vol::Chunked chunked;
  bool contiguous;  // cut in blocks
  bool unfiltered;  // as those are
};

// Whether chunks without filters, or blocks, may be worth keeping: HDF5 has no room for all of
// them, and they are larger than what tells that one was used.
bool is_worthwhile(const vol::Chunked& dataset, bool contiguous) {
  constexpr std::size_t kLeast = std::size_t{16} << 10U;
  if (contiguous) return dataset.chunk_bytes >= kLeast;
  const std::uint64_t most = kChunkCache / std::max<std::size_t>(dataset.chunk_bytes, 1);
  return dataset.chunk_bytes >= kLeast && engine::count_chunks(dataset.grid()) > most;
}

// Whether neither the dataset nor a chunk of it fills a page, which is what each kept chunk takes.
// HDF5 decodes such a dataset sooner than it tells all that must be known to keep it.
bool is_small(const vol::Object& object, const vol::Elements& elements) {
  constexpr std::size_t kPage = 4096;
  const std::uint64_t least = kPage / elements.element;
  if (engine::volume(elements.rank, elements.dims) >= least) return false;
  vol::Chunked chunked;
  return vol::read_chunk_shape(vol::creation_list(object).get(), chunked) &&
         engine::volume(chunked.rank, chunked.chunk) < least;
}

// Or why it is left to HDF5, as far as this tells.
std::variant<Layout, vol::Reason> layout_of(const vol::Object& object, bool keeps_contiguous) {
  const bool contiguous = !has_chunks({object.under, object.connector->id()});
  const vol::Reason otherwise = contiguous ? kLeftForLayout : kLeftForFilters;
  if (contiguous && !keeps_contiguous) return otherwise;
  vol::Elements elements;
  if (!vol::read_type(object, elements) || !vol::read_extent(object, elements)) return otherwise;
  if (is_small(object, elements)) return kLeftForSize;
  auto found = contiguous ? vol::in_blocks(object, std::move(elements), kBlock)
                          : vol::any_chunked_of(object, std::move(elements));
  if (!found) return otherwise;
  const bool unfiltered = contiguous || (found->pipeline.empty() && !found->by_hdf5);
  if (unfiltered && !is_worthwhile(*found, contiguous)) return otherwise;
  if (!found->fills || !found->grid().countable()) return kLeftForLayout;
  return Layout{std::move(*found), contiguous, unfiltered};
}

vol::Reason examine(const vol::Object& object, Handle& handle) {
  const PrivateErrors own;
  auto* const opened = object.connector->state.find<OpenedFile>();
  if (opened == nullptr) return kLeftForFile;
  auto found = layout_of(object, opened->keeps_contiguous());
  if (const auto* const why = std::get_if<vol::Reason>(&found)) return *why;
  auto& layout = std::get<Layout>(found);
  CachedFile* const file = opened->cached();
  if (file == nullptr) return kLeftForFile;
  // Behind a mount or an external link lies another file.
  if (layout.chunked.identity.file != file->number()) return "left_for_other_file";
  const std::size_t bytes = layout.chunked.chunk_bytes;
  if (bytes == 0 || bytes > file->store().largest()) return kLeftForSize;
  const auto token = engine::cache::Token::of(layout.chunked.identity.token.__data);
  handle.dataset.emplace(CachedDataset{std::move(layout.chunked),
                                       {file->identity(), token, file->version()},
                                       {file->identity(), token, file->version_on_disk()},
                                       *file,
                                       layout.contiguous,
                                       layout.unfiltered ? &file->uses_of(token) : nullptr,
                                       file->known_ahead(token)});
  return {};
}

}  // namespace

std::variant<CachedDataset*, vol::Reason> dataset_of(vol::Object& object) {
  auto& handle = object.state.get<Handle>();
  if (!handle.asked) {
    handle.asked = true;
    handle.why = "left_for_error";
    try {
      handle.why = examine(object, handle);
    } catch (const Error& error) {
      log(Level::info, vol::describe(object) + " is not cached: " + error.what());
    }
  }
  if (handle.dataset) return &*handle.dataset;
  return handle.why;
}

}  // namespace headrace::cache

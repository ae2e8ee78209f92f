#include "layers/cache/connector/cached_dataset.hpp"

#include <optional>

#include "base/error.hpp"
#include "base/report/log.hpp"
#include "hdf5/filters/native_chunks.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::cache {
namespace {

constexpr vol::Reason kLeftForFile = "left_for_file";

// What is kept with a handle.
struct Handle {
  bool asked = false;
  std::optional<CachedDataset> dataset;
  vol::Reason why;
};

// Bytes of a chunk without filters: that it was used takes 4 KiB.
constexpr std::size_t kWorthwhile = std::size_t{16} << 10U;
constexpr std::size_t kBlock = std::size_t{1} << 20U;  // bytes of contiguous datasets

struct Layout {
  std::optional<vol::Chunked> chunked;
  bool contiguous = false;
  vol::Reason why;  // it is left to HDF5, as far as this tells

  [[nodiscard]] bool unfiltered() const {
    return contiguous || (chunked->pipeline.empty() && !chunked->by_hdf5);
  }
};

Layout layout_of(const vol::Object& object, bool keeps_contiguous) {
  Layout layout;
  layout.contiguous = !has_chunks({object.under, object.connector->id()});
  if (!layout.contiguous)
    layout.chunked = vol::any_chunked_of(object);
  else if (keeps_contiguous)
    layout.chunked = vol::in_blocks(object, kBlock);
  if (!layout.chunked)
    layout.why = layout.contiguous ? "left_for_layout" : "left_for_filters";
  else if (layout.unfiltered() && !layout.contiguous && layout.chunked->chunk_bytes < kWorthwhile)
    layout.why = "left_for_filters";
  else if (!layout.chunked->fills || !layout.chunked->grid().countable())
    layout.why = "left_for_layout";
  return layout;
}

vol::Reason examine(const vol::Object& object, Handle& handle) {
  const PrivateErrors own;
  auto* const opened = object.connector->state.find<OpenedFile>();
  if (opened == nullptr) return kLeftForFile;
  Layout layout = layout_of(object, opened->keeps_contiguous());
  if (!layout.why.empty()) return layout.why;
  CachedFile* const file = opened->cached();
  if (file == nullptr) return kLeftForFile;
  // Behind a mount or an external link lies another file.
  if (layout.chunked->identity.file != file->number()) return "left_for_other_file";
  const std::size_t bytes = layout.chunked->chunk_bytes;
  if (bytes == 0 || bytes > file->store().largest()) return "left_for_size";
  const auto token = engine::cache::Token::of(layout.chunked->identity.token.__data);
  const bool unfiltered = layout.unfiltered();
  handle.dataset.emplace(CachedDataset{std::move(*layout.chunked),
                                       {file->identity(), token, file->version()},
                                       {file->identity(), token, file->version_on_disk()},
                                       *file,
                                       layout.contiguous,
                                       unfiltered ? &file->uses_of(token) : nullptr,
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

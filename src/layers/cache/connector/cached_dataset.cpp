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

vol::Reason examine(const vol::Object& object, Handle& handle) {
  const PrivateErrors own;
  auto* const opened = object.connector->state.find<OpenedFile>();
  if (opened == nullptr) return kLeftForFile;
  if (!has_chunks({object.under, object.connector->id()})) return "left_for_layout";
  auto chunked = vol::any_chunked_of(object);
  if (!chunked || (chunked->pipeline.empty() && !chunked->by_hdf5)) return "left_for_filters";
  CachedFile* const file = opened->cached();
  if (file == nullptr) return kLeftForFile;
  // Behind a mount or an external link lies another file.
  if (chunked->identity.file != file->number()) return "left_for_other_file";
  if (!chunked->fills || !chunked->grid().countable()) return "left_for_layout";
  if (chunked->chunk_bytes == 0 || chunked->chunk_bytes > file->store().largest())
    return "left_for_size";
  const auto token = engine::cache::Token::of(chunked->identity.token.__data);
  handle.dataset.emplace(CachedDataset{std::move(*chunked),
                                       {file->identity(), token, file->version()},
                                       {file->identity(), token, file->version_on_disk()},
                                       *file});
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

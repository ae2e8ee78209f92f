#include "layers/async/connector/dataset.hpp"

#include <optional>

#include "hdf5/quiet_errors.hpp"
#include "layers/async/connector/chunks/cache.hpp"
#include "layers/async/connector/chunks/chunk_io.hpp"
#include "layers/async/connector/chunks/chunk_maps.hpp"
#include "layers/async/connector/chunks/mapped_reads.hpp"
#include "layers/async/connector/file_state.hpp"
#include "vol/chunks/layout.hpp"
#include "vol/chunks/pipeline.hpp"
#include "vol/dataset/registry.hpp"
#include "vol/dataset/selection.hpp"
#include "vol/dataset/told_addresses.hpp"

namespace headrace::async {
namespace {

using vol::get;

// What is kept with a handle.
struct Handle {
  std::shared_ptr<Dataset> dataset;    // null when it is left to HDF5
  std::shared_ptr<Dataset> small;      // without filters
  std::unique_ptr<Elements> elements;  // once asked for, when there is no dataset
  bool asked = false;
  bool asked_small = false;  // of a new dataset
  bool asked_elements = false;
  std::optional<std::uint64_t> created;  // times_masks_were_possible() then
  std::optional<bool> alone;             // once asked for
  vol::AddressesTold addresses_told;
  std::string_view why = "left_for_file";  // it is left to HDF5
};

// Leaked: HDF5 closes what is open while the process exits.
vol::Registry<Dataset>& registry() {
  static auto& registry = *new vol::Registry<Dataset>;
  return registry;
}

// How often chunks may have come to lack filters in this process.
std::uint64_t& times_masks_were_possible() {
  static std::uint64_t count = 0;
  return count;
}

Handle& handle_of(vol::Object& object) { return object.state.get<Handle>(); }

H5D_layout_t note_layout(hid_t dcpl, Handle& handle) {
  const H5D_layout_t layout = h5.Pget_layout(dcpl);
  handle.alone = layout == H5D_COMPACT || layout == H5D_CONTIGUOUS || layout == H5D_CHUNKED;
  handle.why = layout == H5D_CHUNKED ? "left_for_filters" : "left_for_layout";
  return layout;
}

bool read_unwritten(hid_t dcpl, Dataset& dataset) {
  H5D_alloc_time_t allocated = H5D_ALLOC_TIME_ERROR;
  if (h5.Pget_alloc_time(dcpl, &allocated) < 0) return false;
  dataset.fresh = allocated != H5D_ALLOC_TIME_EARLY;  // HDF5 has stored chunks then
  return vol::read_fill(dcpl, dataset);
}

std::size_t native_cache_of(const vol::Object& object) {
  const Id<Kind::plist> dapl(get(object, H5VL_DATASET_GET_DAPL).args.get_dapl.dapl_id);
  std::size_t slots = 0;
  std::size_t bytes = 0;
  double preemption = 0;
  return h5.Pget_chunk_cache(dapl.get(), &slots, &bytes, &preemption) < 0 || slots == 0 ? 0 : bytes;
}

// HDF5 gives each opening of a file a number, until all of it is closed: what is cached of an
// earlier one, which others may have changed since, is another version.
void name_for_cache(Dataset& dataset, const vol::UnderConnector& file) {
  const vol::Identity& identity = dataset.identity;
  dataset.share = cache_share(file, identity.file);
  dataset.cached_as = {dataset.share->file, engine::cache::Token::of(identity.token.__data),
                       identity.file};
}

// Null when it is not one for us.
std::shared_ptr<Dataset> examine(const vol::Object& object, Handle& handle) {
  const Id<Kind::plist> dcpl = vol::creation_list(object);
  auto dataset = std::make_shared<Dataset>();
  if (note_layout(dcpl.get(), handle) != H5D_CHUNKED ||
      !vol::read_chunk_shape(dcpl.get(), *dataset) || !vol::filters_all_chunks(dcpl.get()))
    return nullptr;
  handle.why = "left_for_datatype";
  if (!vol::read_type(object, *dataset) || !vol::count_chunk_bytes(*dataset)) return nullptr;
  handle.why = "left_for_filters";
  if (h5.Pget_nfilters(dcpl.get()) == 0) {
    if (dataset->chunk_bytes <= kLargestMapped) handle.small = std::move(dataset);
    return nullptr;
  }
  if (!vol::read_pipeline(dcpl.get(), dataset->chunk_bytes, dataset->pipeline)) return nullptr;
  handle.why = "left_for_connector_below";
  if (!read_unwritten(dcpl.get(), *dataset) ||
      !has_native_chunks({object.under, object.connector->id()}) ||
      !vol::read_identity(object, dataset->identity))
    return nullptr;
  dataset->native_cache = native_cache_of(object);
  name_for_cache(*dataset, *object.connector);
  return dataset;
}

std::shared_ptr<Dataset> find(const vol::Object& object, Handle& handle) {
  handle.why = "left_for_layout";
  if (!has_chunks({object.under, object.connector->id()})) return nullptr;
  const PrivateErrors own;
  std::shared_ptr<Dataset> dataset = examine(object, handle);
  if (dataset == nullptr) return nullptr;
  dataset->fresh = dataset->fresh && handle.created == times_masks_were_possible();
  return registry().know(std::move(dataset), [](const Dataset&) { return false; });
}

// The program reads its data past HDF5, so nothing of it is held here.
bool left_for_addresses(const vol::Object& object, Handle& handle) {
  if (!handle.addresses_told(object)) return false;
  handle.why = "left_for_address";
  return true;
}

}  // namespace

engine::Buffer Dataset::encode(const engine::cache::DirtyChunk& chunk) const {
  return engine::encode(pipeline, chunk.bytes.bytes());
}

// A chunk that HDF5 has written, as a filter gains nothing, is HDF5's to cache from then on.
bool Dataset::store(const engine::cache::DirtyChunk& chunk, const engine::Buffer& encoded) {
  const PrivateErrors own;
  store_chunk(*this, chunk.origin, encoded, chunk.bytes.bytes());
  return encoded.size() > 0;
}

void Dataset::lose(const std::exception_ptr& error) noexcept { handle->connector->defer(error); }

std::shared_ptr<Dataset> dataset_of(vol::Object& object) {
  if (!filters_on(*object.connector) && !only_decodes(*object.connector)) return nullptr;
  Handle& handle = handle_of(object);
  if (left_for_addresses(object, handle)) return nullptr;
  if (!handle.asked) {
    handle.dataset = find(object, handle);
    handle.asked = true;
  }
  return handle.dataset;
}

Elements* elements_of(vol::Object& object) {
  if (const auto dataset = dataset_of(object)) return dataset.get();
  if (!stands_alone(object)) return nullptr;
  Handle& handle = handle_of(object);
  if (left_for_addresses(object, handle)) return nullptr;
  if (!handle.asked_elements) {
    handle.asked_elements = true;
    const PrivateErrors own;
    auto elements = std::make_unique<Elements>();
    if (vol::read_type(object, *elements) && vol::read_extent(object, *elements) &&
        vol::read_identity(object, elements->identity)) {
      const Id<Kind::plist> dcpl = vol::creation_list(object);
      vol::read_chunk_shape(dcpl.get(), *elements);
      elements->as_stored = h5.Pget_nfilters(dcpl.get()) == 0;
      elements->fills = vol::fills(dcpl.get());
      handle.elements = std::move(elements);
    }
  }
  return handle.elements.get();
}

std::shared_ptr<Dataset> small_chunks_of(vol::Object& object, hid_t space) {
  constexpr hssize_t kMuch = 4096;  // elements
  auto* const handle = object.state.find<Handle>();
  if (handle == nullptr) return nullptr;
  if (handle->created && !handle->asked_small && handle->why == "left_for_filters") {
    const PrivateErrors own;
    if (vol::is_dataspace(space) && h5.Sget_select_npoints(space) < kMuch) return nullptr;
    handle->asked_small = true;
    examine(object, *handle);
  }
  return handle->small == nullptr || left_for_addresses(object, *handle) ? nullptr : handle->small;
}

bool complete(Dataset& dataset, const vol::Object& object) {
  if (!tells_chunk_places({object.under, object.connector->id()})) return false;
  if (!dataset.pipeline.empty()) return true;
  const PrivateErrors own;
  if (!read_unwritten(vol::creation_list(object).get(), dataset) ||
      !has_native_chunks({object.under, object.connector->id()}) ||
      !vol::read_identity(object, dataset.identity))
    return false;
  dataset.native_cache = native_cache_of(object);
  return true;
}

void note_created(vol::Object& object, hid_t dcpl) {
  if (!filters_on(*object.connector)) return;
  Handle& handle = handle_of(object);
  handle.created = times_masks_were_possible();
  // HDF5 has just used the list: the questions do not fail, and the stack that they clear is empty.
  handle.asked = note_layout(dcpl, handle) != H5D_CHUNKED || h5.Pget_nfilters(dcpl) <= 0;
}

std::string_view why_not(const vol::Object& object) {
  const auto* const handle = object.state.find<Handle>();
  return handle == nullptr ? Handle().why : handle->why;
}

std::string_view ask_why_not(vol::Object& object) {
  Handle& handle = handle_of(object);
  if (left_for_addresses(object, handle)) return handle.why;
  const PrivateErrors own;
  if (handle.asked) examine(object, handle);
  return handle.why;
}

bool stands_alone(const vol::Object& object) {
  auto* const handle = object.state.find<Handle>();
  if (handle == nullptr) return false;
  if (!handle->alone) note_layout(vol::creation_list(object).get(), *handle);
  return handle->alone.value_or(false);
}

std::shared_ptr<Dataset> known_dataset_of(const vol::Object& object) {
  const auto* const handle = object.state.find<Handle>();
  return handle == nullptr ? nullptr : handle->dataset;
}

void masks_are_possible(const vol::Touched& touched) {
  ++times_masks_were_possible();
  registry().for_each(touched, [](Dataset& one) { one.fresh = false; });
}

void forget_closed_datasets() {
  forget_closed_mappings();
  registry().forget_closed([](Dataset& dataset) {
    cache().drop(dataset);
    const PrivateErrors own;  // a library that ends has taken the id away already
    dataset.type = Id<Kind::datatype>();
  });
}

void drop_chunks(const vol::Touched& touched) {
  registry().for_each(touched, [](Dataset& one) { cache().drop(one); });
}

}  // namespace headrace::async

#include "layers/log/connector/file/dataset.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/report/log.hpp"
#include "hdf5/error_stack.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/log/connector/file/logged_file.hpp"
#include "layers/log/connector/state.hpp"
#include "vol/chunks/layout.hpp"
#include "vol/dataset/selection.hpp"

namespace headrace::log_layout {
namespace {

constexpr std::size_t kFew = 1024;  // what takes as long to look through as reading on in the log

Dataset* known(const vol::Object& object) {
  const Handle* const handle = object.state.find<Handle>();
  return handle == nullptr ? nullptr : handle->dataset.get();
}

// Where its elements lie is HDF5's own business, but not that they lie in this file, each once.
bool read_layout(const vol::Object& object, Dataset& dataset) {
  const auto dcpl = vol::creation_list(object);
  const H5D_layout_t layout = h5.Pget_layout(dcpl.get());
  dataset.fills = vol::fills(dcpl.get());
  if (layout == H5D_CONTIGUOUS) return h5.Pget_external_count(dcpl.get()) == 0;
  const auto chunks = vol::chunk_shape(dcpl.get());
  if (!chunks || chunks->rank != dataset.rank) return false;
  std::ranges::copy(chunks->lengths, dataset.chunk.begin());
  return true;
}

}  // namespace

std::shared_ptr<Dataset> examine(const vol::Object& object) {
  auto dataset = std::make_shared<Dataset>();
  unsigned links = 0;
  if (!vol::read_type(object, *dataset) || !vol::read_extent(object, *dataset) ||
      !read_layout(object, *dataset) || !vol::read_identity(object, dataset->identity, &links) ||
      links == 0 || !vol::countable(*dataset))
    return nullptr;
  return dataset;
}

// Where it is contiguous HDF5 says that it has allocated what the file system has not.
std::uint64_t Dataset::expects() const {
  std::uint64_t all = element;
  for (unsigned d = 0; d < rank; ++d) {
    const std::uint64_t extent =
        chunked() ? (dims[d] + chunk[d] - 1) / chunk[d] * chunk[d] : dims[d];
    if (__builtin_mul_overflow(all, extent, &all)) return expected;
  }
  return std::min(expected, all - std::min(all, allocated_.value_or(0)));
}

void Dataset::look_up(const vol::Object& through) {
  if (allocated_ || !chunked()) return;
  hsize_t size = 0;
  H5VL_dataset_get_args_t args{H5VL_DATASET_GET_STORAGE_SIZE, {}};
  args.args.get_storage_size.storage_size = &size;
  h5.VLdataset_get(through.under, through.connector->id(), &args, h5.transfer_list.get(), nullptr);
  allocated_ = size;
}

void Dataset::Logged::note(engine::Pattern pattern, std::uint64_t first) {
  many = many || since.size() == kFew;
  if (many)
    since.clear();
  else
    since.push_back({std::move(pattern), first});
}

bool Dataset::Logged::may_miss(std::span<const engine::Run> rows) const {
  if (many || since.size() * rows.size() > kFew) return true;
  const auto has = [](const Write& write, const engine::Run& row) {
    const std::uint64_t end = row.first + row.count;
    if (end <= write.first) return false;
    const std::uint64_t at = write.pattern.next(std::max(row.first, write.first) - write.first);
    return at != ~std::uint64_t{0} && write.first + at < end;
  };
  return std::ranges::any_of(since, [&](const Write& write) {
    return std::ranges::any_of(rows, [&](const engine::Run& row) { return has(write, row); });
  });
}

void Dataset::forget() {
  pending = false;
  handle = nullptr;
  expected = 0;
  allocated_.reset();
}

void Dataset::flush() {
  H5VL_dataset_specific_args_t args{H5VL_DATASET_FLUSH, {}};
  args.args.flush.dset_id = kInvalidId;  // only for a function that the program has HDF5 call
  if (h5.VLdataset_specific(handle->under, handle->connector->id(), &args, h5.transfer_list.get(),
                            nullptr) < 0)
    throw Error("HDF5 cannot flush " + vol::describe(*handle) + ": " + root_cause());
}

// HDF5 frees what it kept in memory even when it cannot write it.
void Dataset::close() {
  if (closed == nullptr) return;
  const std::string name = vol::describe(*closed);
  const auto object = std::exchange(closed, nullptr);
  handle = nullptr;
  if (h5.VLdataset_close(object->under, object->connector->id(), h5.transfer_list.get(), nullptr) <
      0)
    throw Error(name + " could not be closed, and misses data: " + root_cause());
}

Dataset* dataset_of(vol::Object& object) {
  LoggedFile* const file = LoggedFile::of(*object.connector);
  if (file == nullptr || (!file->logs() && !file->has_stored())) return nullptr;
  Handle& handle = handle_of(object);
  // The program reads its data past HDF5. Ranks look at what is logged when they ask for addresses.
  if (!file->of_ranks() && handle.addresses_told(object)) return nullptr;
  if (!handle.looked_up) {
    const PrivateErrors own;
    handle.dataset = file->find(object);
    handle.looked_up = true;  // an error is one of each call
  }
  return handle.dataset.get();
}

void ask_early(vol::Object& object, bool made) noexcept {
  try {
    if (LoggedFile* const file = LoggedFile::of(*object.connector)) file->ask_early(object, made);
  } catch (const std::exception& error) {
    headrace::log(Level::debug, error.what());
  }
}

void leave_to_hdf5(vol::Object& object) { handle_of(object).looked_up = true; }

bool extends_at_end(Dataset& dataset, const vol::Object& object, const hsize_t* extent) {
  const PrivateErrors own;
  if (!vol::update_dims(dataset, object) || extent[0] < dataset.dims[0]) return false;
  vol::Elements grown;
  grown.rank = dataset.rank;
  std::copy_n(extent, dataset.rank, grown.dims.begin());
  return std::equal(extent + 1, extent + dataset.rank, dataset.dims.begin() + 1) &&
         vol::countable(grown);
}

bool grows_at_its_end(const vol::Object& object, const hsize_t* extent) {
  Dataset* const dataset = known(object);
  // Which ranks know the extent differs, and they make the call together.
  if (dataset == nullptr || dataset->file->of_ranks() || !vol::extent_known(*dataset) ||
      !extends_at_end(*dataset, object, extent))
    return false;
  vol::extents_may_have_changed();
  return true;
}

bool close_behind(vol::Object& object) {
  Dataset* const dataset = known(object);
  if (dataset == nullptr || !dataset->pending || dataset->handle != &object) return false;
  dataset->closed = std::make_unique<vol::Object>(object.under, object.connector);
  dataset->handle = dataset->closed.get();
  object.under = nullptr;
  return true;
}

}  // namespace headrace::log_layout

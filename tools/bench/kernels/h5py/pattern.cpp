#include "kernels/h5py/pattern.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace headrace::bench::h5py {
namespace {

// Also under MPI, where run.fapl() is mpio's: that one writes no texts of variable length.
Handle access_list() { return {H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "access property list"}; }

int rank_of(const std::vector<hsize_t>& extent) { return static_cast<int>(extent.size()); }

}  // namespace

JsonObject Pattern::parameters() const {
  JsonObject all;
  all.number("rows", static_cast<long long>(shape_.rows))
      .number("columns", static_cast<long long>(shape_.columns))
      .number("block", static_cast<long long>(shape_.block))
      .number("list", static_cast<long long>(shape_.list))
      .number("slow_rows", static_cast<long long>(shape_.slow_rows))
      .number("slow_columns", static_cast<long long>(shape_.slow_columns));
  return all;
}

void Pattern::write(Run& run) {
  run.driver("sec2");
  Handle file = run.timed(Phase::create, [&] {
    const Handle fapl = access_list();
    return Handle(H5Fcreate(run.file().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl.get()), H5Fclose,
                  "create " + run.file());
  });
  fill(run, file.get());
  run.timed(Phase::flush, [&] { check(H5Fflush(file.get(), H5F_SCOPE_LOCAL), "flush"); });
  run.timed(Phase::close, [&] { file.close(); });
}

void Pattern::read(Run& run) {
  run.driver("sec2");
  Handle file = run.timed(Phase::open, [&] {
    const Handle fapl = access_list();
    return Handle(H5Fopen(run.file().c_str(), H5F_ACC_RDONLY, fapl.get()), H5Fclose,
                  "open " + run.file());
  });
  drain(run, file.get());
  run.timed(Phase::close_read, [&] { file.close(); });
}

std::vector<hsize_t> guessed_chunk(std::vector<hsize_t> extent, std::size_t element) {
  constexpr double kBase = 16 * 1024;
  constexpr double kLeast = 8 * 1024;
  constexpr double kMost = 1024 * 1024;
  constexpr hsize_t kUnknown = 1024;
  const auto bytes = [&] {
    auto product = static_cast<double>(element);
    for (const hsize_t each : extent) product *= static_cast<double>(each);
    return product;
  };
  for (hsize_t& each : extent)
    if (each == 0) each = kUnknown;
  const double target = std::clamp(kBase * std::exp2(std::log10(bytes() / kMost)), kLeast, kMost);
  // Halves the dimensions in turn until the chunk is about as large as it shall be.
  for (std::size_t turn = 0;; ++turn) {
    const bool fits = bytes() < target || std::abs(bytes() - target) / target < 0.5;
    const bool single = std::ranges::all_of(extent, [](hsize_t each) { return each == 1; });
    if ((fits && bytes() < kMost) || single) return extent;
    hsize_t& each = extent[turn % extent.size()];
    each = (each + 1) / 2;
  }
}

Handle chunked(const std::vector<hsize_t>& chunk, bool gzip) {
  constexpr unsigned kLevel = 4;  // h5py's default
  Handle list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "creation property list");
  check(H5Pset_chunk(list.get(), rank_of(chunk), chunk.data()), "set chunk");
  if (!gzip) return list;
  check(H5Pset_shuffle(list.get()), "set shuffle");
  check(H5Pset_deflate(list.get(), kLevel), "set gzip");
  return list;
}

RowDataset RowDataset::create(hid_t file, const std::string& name, hid_t type,
                              const std::vector<hsize_t>& extent, const Handle& storage) {
  RowDataset made;
  made.name_ = name;
  made.extent_ = extent;
  std::vector<hsize_t> most = extent;
  if (extent.front() == 0) most.front() = H5S_UNLIMITED;
  const Handle space(H5Screate_simple(rank_of(extent), extent.data(), most.data()), H5Sclose,
                     "dataspace");
  made.dataset_ = Handle(
      H5Dcreate2(file, name.c_str(), type, space.get(), H5P_DEFAULT, storage.get(), H5P_DEFAULT),
      H5Dclose, "create dataset " + name);
  return made;
}

RowDataset RowDataset::open(hid_t file, const std::string& name, hid_t type,
                            const std::vector<hsize_t>& extent) {
  RowDataset opened;
  opened.name_ = name;
  opened.extent_ = extent;
  opened.dataset_ =
      Handle(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, "open dataset " + name);
  const Handle found(H5Dget_type(opened.dataset_.get()), H5Tclose, "type of " + name);
  if (check(H5Tequal(found.get(), type), "compare types") == 0)
    throw Error("dataset " + name + " has another type than it was written with");
  const Handle space(H5Dget_space(opened.dataset_.get()), H5Sclose, "dataspace of " + name);
  std::vector<hsize_t> now(extent.size());
  if (H5Sget_simple_extent_ndims(space.get()) != rank_of(extent) ||
      H5Sget_simple_extent_dims(space.get(), now.data(), nullptr) < 0 || now != extent)
    throw Error("dataset " + name + " has another shape than it was written with");
  return opened;
}

void RowDataset::grow(hsize_t rows) {
  extent_.front() = rows;
  check(H5Dset_extent(dataset_.get(), extent_.data()), "resize dataset " + name_);
}

Handle RowDataset::memory_space(hsize_t count) const {
  std::vector<hsize_t> extent = extent_;
  extent.front() = count;
  return {H5Screate_simple(rank_of(extent), extent.data(), nullptr), H5Sclose, "dataspace"};
}

Handle RowDataset::file_space(hsize_t first, hsize_t count) const {
  Handle space(H5Dget_space(dataset_.get()), H5Sclose, "dataspace of " + name_);
  std::vector<hsize_t> start(extent_.size(), 0);
  std::vector<hsize_t> size = extent_;
  start.front() = first;
  size.front() = count;
  check(
      H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr),
      "select rows of " + name_);
  return space;
}

void RowDataset::write(hsize_t first, hsize_t count, hid_t type, const void* data) const {
  const Handle space = file_space(first, count);
  const Handle memory = memory_space(count);
  check(H5Dwrite(dataset_.get(), type, memory.get(), space.get(), H5P_DEFAULT, data),
        "write dataset " + name_);
}

void RowDataset::read(hsize_t first, hsize_t count, hid_t type, void* data) const {
  const Handle space = file_space(first, count);
  const Handle memory = memory_space(count);
  check(H5Dread(dataset_.get(), type, memory.get(), space.get(), H5P_DEFAULT, data),
        "read dataset " + name_);
}

void RowDataset::read_list(std::span<const std::uint64_t> rows, hid_t type, void* data) const {
  const Handle space(H5Dget_space(dataset_.get()), H5Sclose, "dataspace of " + name_);
  const Handle memory = memory_space(rows.size());
  std::vector<hsize_t> start(extent_.size(), 0);
  std::vector<hsize_t> size = extent_;
  size.front() = 1;
  check(H5Sselect_none(space.get()), "select nothing");
  for (const std::uint64_t row : rows) {
    start.front() = row;
    check(H5Sselect_hyperslab(space.get(), H5S_SELECT_OR, start.data(), nullptr, size.data(),
                              nullptr),
          "select rows of " + name_);
  }
  check(H5Dread(dataset_.get(), type, memory.get(), space.get(), H5P_DEFAULT, data),
        "read dataset " + name_);
}

}  // namespace headrace::bench::h5py

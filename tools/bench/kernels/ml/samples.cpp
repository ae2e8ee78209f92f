#include "kernels/ml/samples.hpp"

#include <array>

#include "base/error.hpp"

namespace headrace::bench::ml {
namespace {

constexpr int kImageRank = 4;
constexpr unsigned kGzipLevel = 1;
using Extent = std::array<hsize_t, kImageRank>;

constexpr std::uint64_t kImages = key_of("images");
constexpr std::uint64_t kLabels = key_of("labels");

Extent images_of(hsize_t samples) { return {samples, kSide, kSide, kColours}; }

Handle space_of(int rank, const hsize_t* extent) {
  return {H5Screate_simple(rank, extent, nullptr), H5Sclose, "dataspace"};
}

Handle image_storage(Storage storage) {
  Handle list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "creation property list");
  if (storage == Storage::contiguous) return list;
  const Extent chunk = images_of(1);
  check(H5Pset_chunk(list.get(), kImageRank, chunk.data()), "set chunk");
  if (storage == Storage::gzip) check(H5Pset_deflate(list.get(), kGzipLevel), "set gzip");
  return list;
}

void check_dataset(const Handle& dataset, hid_t type, const hsize_t* extent, int rank,
                   const std::string& name) {
  const Handle found(H5Dget_type(dataset.get()), H5Tclose, "type of " + name);
  const Handle wanted = space_of(rank, extent);
  const Handle space(H5Dget_space(dataset.get()), H5Sclose, "dataspace of " + name);
  if (check(H5Tequal(found.get(), type), "compare types") == 0 ||
      check(H5Sextent_equal(space.get(), wanted.get()), "compare extents") == 0)
    throw Error("dataset " + name + " has another type or shape than it was written with");
}

void check_storage(const Handle& dataset, Storage storage) {
  const Handle list(H5Dget_create_plist(dataset.get()), H5Pclose, "creation property list");
  const bool chunked = H5Pget_layout(list.get()) == H5D_CHUNKED;
  const int filters = check(H5Pget_nfilters(list.get()), "filters of images");
  if (chunked != (storage != Storage::contiguous) || filters != (storage == Storage::gzip ? 1 : 0))
    throw Error("dataset images is stored in another way than it was written");
}

// Selects `count` images, or labels, from `first` on.
void select(const Handle& space, int rank, hsize_t first, hsize_t count, H5S_seloper_t how) {
  if (count == 0) {
    check(H5Sselect_none(space.get()), "select nothing");
    return;
  }
  const Extent start{first, 0, 0, 0};
  const Extent extent = images_of(count);
  // Of the labels only the first dimension is there.
  check(H5Sselect_hyperslab(space.get(), how, start.data(), nullptr, extent.data(), nullptr),
        rank == 1 ? "select labels" : "select images");
}

}  // namespace

void SampleBuffer::fill(std::size_t place, std::uint64_t sample, Texture texture) {
  const std::span<std::uint8_t> image(images.data() + place * kImageBytes, kImageBytes);
  bench::fill<std::uint8_t>(image, kImages, sample * kImageBytes, texture);
  labels[place] = value<std::int32_t>(kLabels, sample);
}

void SampleBuffer::verify(std::size_t place, std::uint64_t sample, Texture texture) const {
  const std::span<const std::uint8_t> image(images.data() + place * kImageBytes, kImageBytes);
  bench::verify<std::uint8_t>(image, kImages, sample * kImageBytes, "images", texture);
  verify_one(labels[place], value<std::int32_t>(kLabels, sample), sample, "labels");
}

Samples Samples::create(hid_t file, std::uint64_t samples, Storage storage) {
  Samples made;
  made.count_ = samples;
  const Extent extent = images_of(samples);
  const Handle list = image_storage(storage);
  const Handle images = space_of(kImageRank, extent.data());
  const Handle labels = space_of(1, extent.data());
  made.images_ = Handle(
      H5Dcreate2(file, "images", H5T_STD_U8LE, images.get(), H5P_DEFAULT, list.get(), H5P_DEFAULT),
      H5Dclose, "create dataset images");
  made.labels_ = Handle(H5Dcreate2(file, "labels", H5T_STD_I32LE, labels.get(), H5P_DEFAULT,
                                   H5P_DEFAULT, H5P_DEFAULT),
                        H5Dclose, "create dataset labels");
  return made;
}

Samples Samples::open(hid_t file, std::uint64_t samples, Storage storage) {
  Samples opened;
  opened.count_ = samples;
  opened.images_ = Handle(H5Dopen2(file, "images", H5P_DEFAULT), H5Dclose, "open dataset images");
  opened.labels_ = Handle(H5Dopen2(file, "labels", H5P_DEFAULT), H5Dclose, "open dataset labels");
  const Extent extent = images_of(samples);
  check_dataset(opened.images_, H5T_STD_U8LE, extent.data(), kImageRank, "images");
  check_dataset(opened.labels_, H5T_STD_I32LE, extent.data(), 1, "labels");
  check_storage(opened.images_, storage);
  return opened;
}

void Samples::close() {
  images_.close();
  labels_.close();
}

void Samples::write(Run& run, std::uint64_t first, std::size_t count, const SampleBuffer& buffer,
                    const Handle& dxpl) const {
  const auto move = [&](const Handle& dataset, int rank, hid_t type, const void* from) {
    const Extent all = images_of(count_);
    const Extent some = images_of(count);
    const Handle space = space_of(rank, all.data());
    const Handle memory = space_of(rank, some.data());
    select(space, rank, first, count, H5S_SELECT_SET);
    check(H5Dwrite(dataset.get(), type, memory.get(), space.get(), dxpl.get(), from),
          rank == 1 ? "write dataset labels" : "write dataset images");
    run.transferred(dxpl.get());
  };
  move(images_, kImageRank, H5T_NATIVE_UINT8, buffer.images.data());
  move(labels_, 1, H5T_NATIVE_INT32, buffer.labels.data());
}

void Samples::read_one(std::uint64_t sample, std::size_t place, SampleBuffer& buffer,
                       const Handle& dxpl) const {
  const auto move = [&](const Handle& dataset, int rank, hid_t type, void* to) {
    const Extent all = images_of(count_);
    const Extent one = images_of(1);
    const Handle space = space_of(rank, all.data());
    const Handle memory = space_of(rank, one.data());
    select(space, rank, sample, 1, H5S_SELECT_SET);
    check(H5Dread(dataset.get(), type, memory.get(), space.get(), dxpl.get(), to),
          rank == 1 ? "read dataset labels" : "read dataset images");
  };
  move(images_, kImageRank, H5T_NATIVE_UINT8, buffer.images.data() + place * kImageBytes);
  move(labels_, 1, H5T_NATIVE_INT32, buffer.labels.data() + place);
}

void Samples::read_union(std::span<const std::uint64_t> samples, SampleBuffer& buffer,
                         const Handle& dxpl) const {
  const auto move = [&](const Handle& dataset, int rank, hid_t type, void* to) {
    const Extent all = images_of(count_);
    const Extent some = images_of(samples.size());
    const Handle space = space_of(rank, all.data());
    const Handle memory = space_of(rank, some.data());
    select(space, rank, 0, 0, H5S_SELECT_SET);
    for (const std::uint64_t sample : samples) select(space, rank, sample, 1, H5S_SELECT_OR);
    check(H5Dread(dataset.get(), type, memory.get(), space.get(), dxpl.get(), to),
          rank == 1 ? "read dataset labels" : "read dataset images");
  };
  move(images_, kImageRank, H5T_NATIVE_UINT8, buffer.images.data());
  move(labels_, 1, H5T_NATIVE_INT32, buffer.labels.data());
}

}  // namespace headrace::bench::ml

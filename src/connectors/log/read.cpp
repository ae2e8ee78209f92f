#include "connectors/log/read.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "connectors/log/file.hpp"
#include "connectors/log/sequences.hpp"
#include "engine/buffer.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/pass_through.hpp"

namespace headrace::log_layout {
namespace {

using engine::Buffer;
using engine::Run;

// One dataset of a call.
struct Read {
  vol::Object& object;
  hid_t mem_type;
  hid_t mem_space;
  hid_t file_space;
  hid_t dxpl;
  void* buffer;
};

herr_t read_below(Read& read) {
  void* self = &read.object;
  return vol::own::dataset_read(1, &self, &read.mem_type, &read.mem_space, &read.file_space,
                                read.dxpl, &read.buffer, nullptr);
}

[[noreturn]] void refuse(const Read& read) {
  throw Error(vol::describe(read.object) +
              " is not read this way before its log has been replayed (headrace replay)");
}

bool is_virtual(const vol::Object& object) {
  const Id<Kind::plist> dcpl(vol::get(object, H5VL_DATASET_GET_DCPL).args.get_dcpl.dcpl_id);
  return h5.Pget_layout(dcpl.get()) == H5D_VIRTUAL;
}

bool converts_otherwise(hid_t dxpl) {
  const Aside aside;
  return !vol::leaves_data_alone(dxpl);
}

// The elements of the selection one after the other, in the type of the dataset.
bool fetch(const Read& read, const Dataset& dataset, const Runs& file, Buffer& buffer) {
  const hsize_t elements = elements_of(file);
  const Id<Kind::dataspace> space(h5.Screate_simple(1, &elements, nullptr));
  Read whole{read.object,     dataset.type.get(), space.get(),
             read.file_space, read.dxpl,          static_cast<void*>(buffer.data())};
  std::memset(buffer.data(), 0, buffer.size());  // HDF5 may leave memory as it is
  if (read_below(whole) < 0) return false;
  engine::log::Covered covered(elements);
  std::uint64_t place = 0;
  for (const Run& run : file) {
    dataset.stored->apply(
        run.first, buffer.bytes().subspan(place * dataset.element, run.count * dataset.element),
        covered, place);
    place += run.count;
  }
  return true;
}

// Copies between rows of the program's memory and elements that follow one another.
template <typename Copy>
void for_rows(const Read& read, const Runs& memory, std::size_t element, const Copy& copy) {
  auto* at = static_cast<std::byte*>(read.buffer);
  std::size_t done = 0;
  for (const Run& run : memory) {
    copy(at + run.first * element, done, run.count * element);
    done += run.count * element;
  }
}

herr_t read_one(Read& read, const Dataset& dataset) {
  constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
  if (converts_otherwise(read.dxpl)) refuse(read);
  const auto file = file_rows_of(dataset, read.file_space, kAny);
  const bool all = read.file_space == 0;  // H5S_ALL: then there is nothing
  if (!file && (all || h5.Sget_select_npoints(read.file_space) == 0)) return read_below(read);
  if (!file) refuse(read);
  const auto memory = memory_rows_of(read.mem_space, *file, kAny);
  const std::uint64_t elements = elements_of(*file);
  if (!memory || elements_of(*memory) != elements) return read_below(read);  // HDF5 says what it is
  const std::size_t element = h5.Tget_size(read.mem_type);
  Buffer buffer(elements * std::max(element, dataset.element));
  if (!fetch(read, dataset, *file, buffer)) return -1;
  if (h5.Tequal(read.mem_type, dataset.type.get()) <= 0) {
    // Members that the file does not have keep what the program's memory holds.
    Buffer background(elements * element);
    for_rows(read, *memory, element, [&](std::byte* row, std::size_t at, std::size_t bytes) {
      std::memcpy(background.data() + at, row, bytes);
    });
    if (h5.Tconvert(dataset.type.get(), read.mem_type, elements, buffer.data(), background.data(),
                    read.dxpl) < 0)
      return -1;
  }
  for_rows(read, *memory, element, [&](std::byte* row, std::size_t at, std::size_t bytes) {
    std::memcpy(row, buffer.data() + at, bytes);
  });
  return 0;
}

}  // namespace

bool reads_stored(std::span<void*> datasets) {
  return std::ranges::any_of(datasets, [](void* one) {
    const File* const file = File::of(*vol::Object::from(one).connector);
    return file != nullptr && file->stored() != nullptr;
  });
}

herr_t read_stored(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                   hid_t file_space[], hid_t dxpl, void* buf[]) {
  for (std::size_t i = 0; i < count; ++i) {
    Read read{vol::Object::from(dset[i]), mem_type[i], mem_space[i], file_space[i], dxpl, buf[i]};
    const Dataset* const dataset = dataset_of(read.object);
    if (dataset == nullptr && is_virtual(read.object)) refuse(read);
    const bool logged = dataset != nullptr && dataset->stored != nullptr;
    if ((logged ? read_one(read, *dataset) : read_below(read)) < 0) return -1;
  }
  return 0;
}

}  // namespace headrace::log_layout

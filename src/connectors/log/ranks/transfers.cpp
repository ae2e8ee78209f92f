#include "connectors/log/ranks/transfers.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "connectors/log/reading/read.hpp"
#include "connectors/log/serial/all_files.hpp"
#include "connectors/log/writing/write.hpp"
#include "engine/memory/kind.hpp"
#include "hdf5/error_stack.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/dataset/transfer_list.hpp"
#include "vol/pass_through.hpp"

namespace headrace::log_layout {
namespace {

constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
constexpr std::uint64_t kLongPiece = 64 << 10;

// HDF5 applies it on the way, to what it writes itself.
bool transforms(hid_t dxpl) {
  const PrivateErrors own;
  return !vol::is_default(dxpl) && h5.Pget_data_transform(dxpl, nullptr, 0) >= 0;
}

// The arguments of a call, for some of its datasets.
template <typename Pointer>
struct Call {
  std::vector<void*> dset;
  std::vector<hid_t> mem_type, mem_space, file_space;
  std::vector<Pointer> buf;

  void add(void* one, hid_t type, hid_t memory, hid_t file, Pointer buffer) {
    dset.push_back(one);
    mem_type.push_back(type);
    mem_space.push_back(memory);
    file_space.push_back(file);
    buf.push_back(buffer);
  }
};

bool selects_nothing(const Dataset& dataset, hid_t file_space) {
  if (file_space == 0) return engine::volume(dataset.rank, dataset.dims) == 0;  // H5S_ALL
  return h5.Sget_select_npoints(file_space) == 0;
}

// Elements that lie in one piece of the file where a box of that size is stored in such shapes.
std::uint64_t piece_of(unsigned rank, const engine::Index& shape, const engine::Index& box) {
  std::uint64_t piece = 1;
  for (unsigned d = rank; d-- > 0;) {
    const std::uint64_t count = std::min(box[d], shape[d]);
    piece *= count;
    if (count < shape[d]) break;
  }
  return piece;
}

// Whether HDF5 writes so many bytes of a dataset with few requests when it has so many pieces.
bool takes_few_requests(std::uint64_t bytes, std::uint64_t pieces) {
  constexpr std::uint64_t kOnePiece = 4 << 10;
  return pieces == 1 ? bytes >= kOnePiece : bytes / pieces >= kLongPiece;
}

// The same of what is selected of a dataset whose extent is known; no where there is no telling.
bool takes_few_requests(const Dataset& dataset, hid_t file_space) {
  const engine::Index& shape = dataset.chunked() ? dataset.chunk : dataset.dims;
  const auto few = [&](std::uint64_t elements, const engine::Index& box) {
    const std::uint64_t piece = piece_of(dataset.rank, shape, box);
    return takes_few_requests(elements * dataset.element, (elements + piece - 1) / piece);
  };
  constexpr hid_t kAll = 0;  // H5S_ALL
  if (file_space == kAll)
    return !selects_nothing(dataset, kAll) &&
           few(engine::volume(dataset.rank, dataset.dims), dataset.dims);
  std::array<hsize_t, engine::kMaxRank> first{};
  std::array<hsize_t, engine::kMaxRank> last{};
  const hssize_t selected = h5.Sget_select_npoints(file_space);
  if (selected <= 0 || h5.Sget_simple_extent_ndims(file_space) != static_cast<int>(dataset.rank) ||
      h5.Sget_select_bounds(file_space, first.data(), last.data()) < 0)
    return false;
  const auto elements = static_cast<std::uint64_t>(selected);
  engine::Index box{};
  for (unsigned d = 0; d < dataset.rank; ++d) box[d] = last[d] - first[d] + 1;
  if (engine::volume(dataset.rank, box) == elements) return few(elements, box);
  // Listing no more of the rows than there may be.
  const std::uint64_t most = elements * dataset.element / kLongPiece;
  return few(elements, dataset.dims) && vol::file_rows_of(dataset, file_space, most).has_value();
}

// Whether a log gains nothing, and HDF5 needs no other rank for what it writes instead. Not where
// what is logged would come on top of it later.
bool goes_to_hdf5(Dataset& dataset, const vol::Object& object, hid_t file_space) {
  return !dataset.over_ranks.filtered && !file_of(dataset).may_hold(dataset) &&
         vol::update_dims(dataset, object) && takes_few_requests(dataset, file_space);
}

// Throws Error for what HDF5 would refuse.
Write describe_write(Dataset& dataset, vol::Object& object, hid_t mem_type, hid_t mem_space,
                     hid_t file_space, const void* buffer) {
  constexpr hid_t kPlist = 2;  // H5S_PLIST
  if (file_space == kPlist || mem_space == kPlist)
    throw Error("selections in a transfer property list are not logged: " + vol::describe(object));
  Write write = write_of(dataset, object, mem_type, buffer);
  if (!select_in_file(write, file_space, kAny))
    throw Error("a selection of " + vol::describe(object) + " is none within its extent");
  if (!select_in_memory(write, mem_space, kAny))
    throw Error("selections in memory and of " + vol::describe(object) +
                " do not have the same number of elements");
  if (buffer == nullptr || write.mem_element == 0)
    throw Error("there is nothing to write to " + vol::describe(object));
  return write;
}

void note_read(Dataset* dataset) {
  if (dataset != nullptr && dataset->over_ranks.filtered) dataset->over_ranks.read = true;
}

engine::Buffer convert(const Write& write, hid_t file_space, hid_t dxpl) {
  Dataset& dataset = *write.dataset;
  note_read(&dataset);
  if (converts_alone(dataset, write.mem_type)) return converted(write, dxpl, nullptr);
  engine::Buffer background(write.elements * std::max(write.mem_element, dataset.element));
  const Read read{*write.handle,          kInvalidId, kInvalidId, file_space,
                  h5.transfer_list.get(), nullptr};
  if (!fetch(read, dataset, dataset.file->writes_of(dataset), write.file, background))
    throw Error("HDF5 cannot read what is kept of " + vol::describe(*write.handle) + ": " +
                root_cause());
  return converted(write, dxpl, background.data());
}

void log_write(Dataset& dataset, vol::Object& object, hid_t mem_type, hid_t mem_space,
               hid_t file_space, hid_t dxpl, const void* buffer) {
  if (!vol::update_dims(dataset, object))
    throw Error("HDF5 does not tell the extent of " + vol::describe(object));
  if (selects_nothing(dataset, file_space)) return;
  const Write write = describe_write(dataset, object, mem_type, mem_space, file_space, buffer);
  engine::Buffer elements;
  if (write.converts) elements = convert(write, file_space, dxpl);
  const std::span<const std::byte> bytes = elements.bytes();
  file_of(dataset).add(dataset, object, [&](engine::log::Writer& log, std::uint32_t place) {
    if (write.converts)
      append_elements(log, place, write, bytes.first(write.elements * dataset.element));
    else
      append(log, place, write, dxpl);
  });
}

// As the program asked for it, whatever has been logged.
vol::Written written_of(Dataset& dataset, const vol::Object& object, hid_t mem_type,
                        hid_t mem_space, hid_t file_space) {
  vol::update_dims(dataset, object);
  vol::Written written{.chunked = dataset.chunked(), .filtered = dataset.over_ranks.filtered};
  written.converts = h5.Tequal(mem_type, dataset.type.get()) <= 0;
  written.in_memory = h5.Tget_size(mem_type);
  written.in_file = dataset.element;
  written.elements = file_space == 0
                         ? engine::volume(dataset.rank, dataset.dims)
                         : static_cast<std::uint64_t>(h5.Sget_select_npoints(file_space));
  written.one_run = mem_space == 0 ||
                    h5.Sget_select_npoints(mem_space) == h5.Sget_simple_extent_npoints(mem_space);
  return written;
}

// What HDF5 has written itself, once more: it has its place among what is logged then.
void log_again(Dataset& dataset, vol::Object& object, hid_t file_space) {
  if (!vol::update_dims(dataset, object) || selects_nothing(dataset, file_space)) return;
  auto file = vol::file_rows_of(dataset, file_space, kAny);
  if (!file) throw Error("a selection of " + vol::describe(object) + " is not known");
  Write write;
  write.dataset = &dataset;
  write.elements = elements_of(*file);
  write.file = std::move(*file);
  engine::Buffer elements(write.elements * dataset.element);
  const Read read{object, kInvalidId, kInvalidId, file_space, h5.transfer_list.get(), nullptr};
  note_read(&dataset);
  if (!fetch(read, dataset, nullptr, write.file, elements))
    throw Error("HDF5 cannot read what it has written to " + vol::describe(object));
  file_of(dataset).add(dataset, object, [&](engine::log::Writer& log, std::uint32_t place) {
    append_elements(log, place, write, elements.bytes());
  });
}

ParallelFile* parallel_file_of(const void* dataset) {
  LoggedFile* const file = LoggedFile::of(*vol::Object::from(dataset).connector);
  return file != nullptr && file->of_ranks() ? static_cast<ParallelFile*>(file) : nullptr;
}

// Each file of a call, in its order.
template <typename Action>
void for_files(std::size_t count, void* const dset[], const Action& action) {
  std::vector<ParallelFile*> done;
  for (const void* one : std::span(dset, count)) {
    ParallelFile* const file = parallel_file_of(one);
    if (file == nullptr || std::ranges::find(done, file) != done.end()) continue;
    done.push_back(file);
    action(*file);
  }
}

// A dataset whose writes ranks log; else null.
Dataset* logged_dataset(void* dataset) {
  return parallel_file_of(dataset) == nullptr ? nullptr : dataset_of(vol::Object::from(dataset));
}

// Collective. Chunks that HDF5 has in memory are not known to be up to date from then on.
void drain_for(std::size_t count, void* const dset[]) {
  bool filtered = false;
  for (void* one : std::span(dset, count)) {
    const Dataset* const dataset = logged_dataset(one);
    filtered = filtered || (dataset != nullptr && dataset->over_ranks.filtered);
  }
  for_files(count, dset, [&](ParallelFile& one) { filtered ? one.stop() : one.drain_together(); });
}

herr_t write_by_hdf5(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                     hid_t file_space[], hid_t dxpl, const void* buf[]) {
  count_left(Left::transfer_list);
  const bool together = vol::collective(dxpl);
  if (together) drain_for(count, dset);
  if (vol::own::dataset_write(count, dset, mem_type, mem_space, file_space, dxpl, buf, nullptr) < 0)
    return -1;
  if (together) return 0;
  const LibraryContext apart;
  const PrivateErrors own;
  for (std::size_t i = 0; i < count; ++i) {
    if (Dataset* const dataset = logged_dataset(dset[i]))
      log_again(*dataset, vol::Object::from(dset[i]), file_space[i]);
  }
  return 0;
}

// Of datasets that are none of ours.
herr_t write_rest(Call<const void*>& call, hid_t dxpl) {
  count_left(Left::dataset);
  drain();  // what is logged of other files
  return vol::own::dataset_write(call.dset.size(), call.dset.data(), call.mem_type.data(),
                                 call.mem_space.data(), call.file_space.data(), dxpl,
                                 call.buf.data(), nullptr);
}

// By this rank alone, also of a call that all ranks make: none waits for those that log theirs.
herr_t write_alone(Call<const void*>& call, hid_t dxpl, Left why) {
  count_left(why);
  const auto write = [&](hid_t list) {
    return vol::own::dataset_write(call.dset.size(), call.dset.data(), call.mem_type.data(),
                                   call.mem_space.data(), call.file_space.data(), list,
                                   call.buf.data(), nullptr);
  };
  for_files(call.dset.size(), call.dset.data(), [](ParallelFile& one) {
    one.require_whole();
    one.note_written();
  });
  if (!vol::collective(dxpl)) return write(dxpl);
  const Id<Kind::plist> alone(h5.Pcopy(dxpl));
  const int independent = 0;  // H5FD_MPIO_INDEPENDENT, which serial headers do not have
  h5.Pset(alone.get(), "io_xfer_mode", &independent);
  const LibraryContext apart;
  return write(alone.get());
}

}  // namespace

bool any_of_ranks(std::span<void* const> datasets) {
  return std::ranges::any_of(datasets,
                             [](const void* one) { return parallel_file_of(one) != nullptr; });
}

// Whether a write is logged depends on what is the same on all ranks, but for the selections: a
// rank that logs makes no call that others would wait in.
herr_t write_over_ranks(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                        hid_t file_space[], hid_t dxpl, const void* buf[]) {
  bool logs = false;
  for_files(count, dset, [&](const ParallelFile& one) {
    one.require_agreed();
    logs = logs || one.logs();
  });
  if (!logs) {
    count_left(Left::ended);
    return vol::own::dataset_write(count, dset, mem_type, mem_space, file_space, dxpl, buf,
                                   nullptr);
  }
  if (transforms(dxpl))
    return write_by_hdf5(count, dset, mem_type, mem_space, file_space, dxpl, buf);
  Call<const void*> rest;
  Call<const void*> alone;
  std::vector<std::size_t> logged;
  std::vector<std::size_t> on_device;
  std::vector<vol::Written> written;
  for (std::size_t i = 0; i < count; ++i) {
    vol::Object& object = vol::Object::from(dset[i]);
    Dataset* const dataset = logged_dataset(dset[i]);
    if (dataset == nullptr) {
      rest.add(dset[i], mem_type[i], mem_space[i], file_space[i], buf[i]);
      continue;
    }
    const LibraryContext apart;
    const PrivateErrors own;
    if (!vol::is_default(dxpl))
      written.push_back(written_of(*dataset, object, mem_type[i], mem_space[i], file_space[i]));
    const bool by_hdf5 = engine::is_device_memory(buf[i]);
    if (by_hdf5) on_device.push_back(i);
    if (by_hdf5 || goes_to_hdf5(*dataset, object, file_space[i]))
      alone.add(dset[i], mem_type[i], mem_space[i], file_space[i], buf[i]);
    else
      logged.push_back(i);
  }
  if (!rest.dset.empty() && write_rest(rest, dxpl) < 0) return -1;
  if (rest.dset.size() == count) return 0;
  const Left why = on_device.empty() ? Left::rows : Left::memory;
  if (!alone.dset.empty() && write_alone(alone, dxpl, why) < 0) return -1;
  const LibraryContext apart;
  const PrivateErrors own;
  for (const std::size_t i : on_device)
    log_again(*logged_dataset(dset[i]), vol::Object::from(dset[i]), file_space[i]);
  for (const std::size_t i : logged) {
    vol::Object& object = vol::Object::from(dset[i]);
    log_write(*logged_dataset(dset[i]), object, mem_type[i], mem_space[i], file_space[i], dxpl,
              buf[i]);
  }
  vol::tell_written(dxpl, written);
  return 0;
}

bool ParallelFile::log_rows(Write& write) {
  require_whole();
  const LibraryContext apart;
  add(*write.dataset, *write.handle, [&](engine::log::Writer& log, std::uint32_t place) {
    append(log, place, write, h5.transfer_list.get());
  });
  return true;
}

void prepare_read(std::size_t count, void* dset[], hid_t dxpl) {
  const bool together = vol::collective(dxpl);
  for_files(count, dset, [&](ParallelFile& one) {
    if (!together) return one.require_whole();
    one.drain_together();
    one.require_agreed();
  });
  // Collective ones, too: HDF5 makes them independent where it converts, for one.
  for (void* one : std::span(dset, count)) note_read(logged_dataset(one));
}

void require_none_logged(vol::Object& object) {
  Dataset* const dataset = logged_dataset(&object);
  if (dataset == nullptr || !dataset->file->reads_logs()) return;
  const PrivateErrors own;
  if (dataset->file->writes_of(*dataset) == nullptr) return;
  throw Error("chunks of " + vol::describe(object) +
              " are not read or written as they are stored before " + dataset->file->until());
}

}  // namespace headrace::log_layout

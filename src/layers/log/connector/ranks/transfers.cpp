#include "layers/log/connector/ranks/transfers.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "engine/memory/kind.hpp"
#include "hdf5/error_stack.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/log/connector/reading/read.hpp"
#include "layers/log/connector/serial/all_files.hpp"
#include "layers/log/connector/writing/write.hpp"
#include "vol/dataset/transfer.hpp"
#include "vol/dataset/transfer_list.hpp"

namespace headrace::log_layout {
namespace {

constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
constexpr std::uint64_t kLongPiece = 64 << 10;

// HDF5 applies it on the way, to what it writes itself.
bool transforms(hid_t dxpl) {
  const PrivateErrors own;
  return !vol::is_default(dxpl) && h5.Pget_data_transform(dxpl, nullptr, 0) >= 0;
}

bool selects_nothing(const Dataset& dataset, hid_t file_space) {
  if (file_space == vol::kAll) return engine::volume(dataset.rank, dataset.dims) == 0;
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
  if (file_space == vol::kAll)
    return !selects_nothing(dataset, vol::kAll) &&
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

// Whether a write goes to the node's storage first, whatever it is: where that has room for it, and
// its elements need not be converted in one piece of memory that is large.
bool is_staged(Dataset& dataset, const vol::Transfer& transfer) {
  return dataset.file->stages_all() &&
         (transfer.bytes() <= kMostConverted ||
          h5.Tequal(transfer.mem_type, dataset.type.get()) > 0) &&
         file_of(dataset).has_room(transfer.bytes());
}

// Whether a log gains nothing, and HDF5 needs no other rank for what it writes instead. Not where
// what is logged would come on top of it later.
bool goes_to_hdf5(Dataset& dataset, const vol::Transfer& transfer) {
  return !dataset.over_ranks.filtered && !is_staged(dataset, transfer) &&
         !file_of(dataset).may_hold(dataset) && vol::update_dims(dataset, transfer.dataset) &&
         takes_few_requests(dataset, transfer.file_space);
}

// Throws Error for what HDF5 would refuse.
Write describe_write(Dataset& dataset, const vol::Transfer& transfer, const void* buffer) {
  const auto name = [&] { return vol::describe(transfer.dataset); };
  if (transfer.file_space == vol::kPlist || transfer.mem_space == vol::kPlist)
    throw Error("selections in a transfer property list are not logged: " + name());
  Write write = write_of(dataset, transfer.dataset, transfer.mem_type, buffer);
  if (!select_in_file(write, transfer.file_space, kAny))
    throw Error("a selection of " + name() + " is none within its extent");
  if (!select_in_memory(write, transfer.mem_space, kAny))
    throw Error("selections in memory and of " + name() +
                " do not have the same number of elements");
  if (buffer == nullptr || write.mem_element == 0)
    throw Error("there is nothing to write to " + name());
  return write;
}

ParallelFile* parallel_file_of(const vol::Object& dataset) {
  LoggedFile* const file = LoggedFile::of(*dataset.connector);
  return file != nullptr && file->of_ranks() ? static_cast<ParallelFile*>(file) : nullptr;
}

// A dataset whose writes ranks log; else null.
Dataset* logged_dataset(vol::Object& dataset) {
  return parallel_file_of(dataset) == nullptr ? nullptr : dataset_of(dataset);
}

void note_read(Dataset* dataset) {
  if (dataset != nullptr && dataset->over_ranks.filtered) dataset->over_ranks.read = true;
}

engine::Buffer convert(const Write& write, const vol::Transfer& transfer) {
  Dataset& dataset = *write.dataset;
  note_read(&dataset);
  if (converts_alone(dataset, write.mem_type)) return converted(write, transfer.dxpl, nullptr);
  engine::Buffer background(write.elements * std::max(write.mem_element, dataset.element));
  const vol::Transfer alone = transfer.with_list(h5.transfer_list.get());
  if (!fetch(alone, dataset, dataset.file->writes_of(dataset), write.file, background))
    throw Error("HDF5 cannot read what is kept of " + vol::describe(*write.handle) + ": " +
                root_cause());
  return converted(write, transfer.dxpl, background.data());
}

void log_write(const vol::Transfer& transfer, const void* buffer) {
  Dataset& dataset = *logged_dataset(transfer.dataset);
  if (!vol::update_dims(dataset, transfer.dataset))
    throw Error("HDF5 does not tell the extent of " + vol::describe(transfer.dataset));
  if (selects_nothing(dataset, transfer.file_space)) return;
  const Write write = describe_write(dataset, transfer, buffer);
  engine::Buffer elements;
  if (write.converts) elements = convert(write, transfer);
  const std::span<const std::byte> bytes = elements.bytes();
  const auto append_to = [&](engine::log::Writer& log, std::uint32_t place) {
    if (write.converts)
      append_elements(log, place, write, bytes.first(write.elements * dataset.element));
    else
      append(log, place, write, transfer.dxpl);
  };
  file_of(dataset).add(dataset, transfer.dataset, append_to);
}

// As the program asked for it, whatever has been logged.
vol::Written written_of(Dataset& dataset, const vol::Transfer& transfer) {
  vol::update_dims(dataset, transfer.dataset);
  vol::Written written{.chunked = dataset.chunked(), .filtered = dataset.over_ranks.filtered};
  written.converts = h5.Tequal(transfer.mem_type, dataset.type.get()) <= 0;
  written.in_memory = h5.Tget_size(transfer.mem_type);
  written.in_file = dataset.element;
  written.elements = transfer.file_space == vol::kAll
                         ? engine::volume(dataset.rank, dataset.dims)
                         : static_cast<std::uint64_t>(h5.Sget_select_npoints(transfer.file_space));
  const hid_t memory = transfer.mem_space;
  written.one_run = memory == vol::kAll ||
                    h5.Sget_select_npoints(memory) == h5.Sget_simple_extent_npoints(memory);
  return written;
}

// What HDF5 has written itself, once more: it has its place among what is logged then.
void log_again(const vol::Transfer& transfer) {
  Dataset& dataset = *logged_dataset(transfer.dataset);
  vol::Object& object = transfer.dataset;
  if (!vol::update_dims(dataset, object) || selects_nothing(dataset, transfer.file_space)) return;
  auto file = vol::file_rows_of(dataset, transfer.file_space, kAny);
  if (!file) throw Error("a selection of " + vol::describe(object) + " is not known");
  Write write;
  write.dataset = &dataset;
  write.elements = elements_of(*file);
  write.file = std::move(*file);
  engine::Buffer elements(write.elements * dataset.element);
  note_read(&dataset);
  const vol::Transfer alone = transfer.with_list(h5.transfer_list.get());
  if (!fetch(alone, dataset, nullptr, write.file, elements))
    throw Error("HDF5 cannot read what it has written to " + vol::describe(object));
  file_of(dataset).add(dataset, object, [&](engine::log::Writer& log, std::uint32_t place) {
    append_elements(log, place, write, elements.bytes());
  });
}

// Each file of a call, in its order.
template <typename Action>
void for_files(std::span<void* const> datasets, const Action& action) {
  std::vector<ParallelFile*> done;
  for (const void* one : datasets) {
    ParallelFile* const file = parallel_file_of(vol::Object::from(one));
    if (file == nullptr || std::ranges::find(done, file) != done.end()) continue;
    done.push_back(file);
    action(*file);
  }
}

// Collective. Chunks that HDF5 has in memory are not known to be up to date from then on.
void drain_for(const vol::Writes& writes) {
  bool filtered = false;
  for (void* one : writes.datasets()) {
    const Dataset* const dataset = logged_dataset(vol::Object::from(one));
    filtered = filtered || (dataset != nullptr && dataset->over_ranks.filtered);
  }
  for_files(writes.datasets(),
            [&](ParallelFile& one) { filtered ? one.stop() : one.drain_together(); });
}

herr_t write_by_hdf5(const vol::Writes& writes) {
  count_left(Left::transfer_list);
  const bool together = vol::collective(writes.dxpl());
  if (together) drain_for(writes);
  if (vol::pass_on(writes) < 0) return -1;
  if (together) return 0;
  const LibraryContext apart;
  const PrivateErrors own;
  for (std::size_t i = 0; i < writes.size(); ++i)
    if (logged_dataset(writes.dataset(i)) != nullptr) log_again(writes[i]);
  return 0;
}

using WriteList = vol::TransferList<const void>;

// Of datasets that are none of ours.
herr_t write_rest(WriteList& rest, hid_t dxpl) {
  count_left(Left::dataset);
  drain();  // what is logged of other files
  return vol::pass_on(rest.call(dxpl));
}

// By this rank alone, also of a call that all ranks make: none waits for those that log theirs.
herr_t write_alone(WriteList& list, hid_t dxpl, Left why) {
  count_left(why);
  const vol::Writes writes = list.call(dxpl);
  for_files(writes.datasets(), [](ParallelFile& one) {
    one.require_whole();
    one.note_written();
  });
  if (!vol::collective(dxpl)) return vol::pass_on(writes);
  const Id<Kind::plist> alone(h5.Pcopy(dxpl));
  const int independent = 0;  // H5FD_MPIO_INDEPENDENT, which serial headers do not have
  h5.Pset(alone.get(), "io_xfer_mode", &independent);
  const LibraryContext apart;
  return vol::pass_on(writes.with_list(alone.get()));
}

// What becomes of each dataset of a call.
struct Shares {
  WriteList rest;                      // none of ours
  WriteList alone;                     // HDF5 writes, by this rank
  std::vector<std::size_t> logged;     // numbers of those that are logged
  std::vector<std::size_t> on_device;  // of those among `alone` that are logged from the file
  std::vector<vol::Written> written;
};

Shares share_out(const vol::Writes& writes) {
  Shares shares;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const vol::Transfer transfer = writes[i];
    Dataset* const dataset = logged_dataset(transfer.dataset);
    if (dataset == nullptr) {
      shares.rest.add(transfer, writes.buffer(i));
      continue;
    }
    const LibraryContext apart;
    const PrivateErrors own;
    if (!vol::is_default(transfer.dxpl)) shares.written.push_back(written_of(*dataset, transfer));
    const bool by_hdf5 = engine::is_device_memory(writes.buffer(i));
    if (by_hdf5) shares.on_device.push_back(i);
    if (by_hdf5 || goes_to_hdf5(*dataset, transfer))
      shares.alone.add(transfer, writes.buffer(i));
    else
      shares.logged.push_back(i);
  }
  return shares;
}

}  // namespace

bool any_of_ranks(std::span<void* const> datasets) {
  return std::ranges::any_of(datasets, [](const void* one) {
    return parallel_file_of(vol::Object::from(one)) != nullptr;
  });
}

// Whether a write is logged depends on what is the same on all ranks, but for the selections: a
// rank that logs makes no call that others would wait in.
herr_t write_over_ranks(const vol::Writes& asked) {
  const vol::Writes writes = asked.without_request();
  bool logs = false;
  for_files(writes.datasets(), [&](const ParallelFile& one) {
    one.require_agreed();
    logs = logs || one.logs();
  });
  if (!logs) {
    count_left(Left::ended);
    return vol::pass_on(writes);
  }
  if (transforms(writes.dxpl())) return write_by_hdf5(writes);
  Shares shares = share_out(writes);
  if (!shares.rest.empty() && write_rest(shares.rest, writes.dxpl()) < 0) return -1;
  if (shares.rest.size() == writes.size()) return 0;
  const Left why = shares.on_device.empty() ? Left::rows : Left::memory;
  if (!shares.alone.empty() && write_alone(shares.alone, writes.dxpl(), why) < 0) return -1;
  const LibraryContext apart;
  const PrivateErrors own;
  for (const std::size_t i : shares.on_device) log_again(writes[i]);
  for (const std::size_t i : shares.logged) log_write(writes[i], writes.buffer(i));
  vol::tell_written(writes.dxpl(), shares.written);
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

void prepare_read(const vol::Reads& reads) {
  const bool together = vol::collective(reads.dxpl());
  for_files(reads.datasets(), [&](ParallelFile& one) {
    if (!together) return one.require_whole();
    one.drain_together();
    one.require_agreed();
  });
  // Collective ones, too: HDF5 makes them independent where it converts, for one.
  for (void* one : reads.datasets()) note_read(logged_dataset(vol::Object::from(one)));
}

void require_none_logged(vol::Object& object) {
  Dataset* const dataset = logged_dataset(object);
  if (dataset == nullptr || !dataset->file->reads_logs()) return;
  const PrivateErrors own;
  if (dataset->file->writes_of(*dataset) == nullptr) return;
  throw Error("chunks of " + vol::describe(object) +
              " are not read or written as they are stored before " + dataset->file->until());
}

}  // namespace headrace::log_layout

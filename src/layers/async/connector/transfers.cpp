#include "layers/async/connector/transfers.hpp"

#include <algorithm>

#include "base/report/log.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"
#include "hdf5/report/summary.hpp"
#include "layers/async/connector/chunks/cache.hpp"
#include "layers/async/connector/chunks/chunk_transfer.hpp"
#include "layers/async/connector/chunks/mapped_reads.hpp"
#include "layers/async/connector/chunks/reads_behind.hpp"
#include "layers/async/connector/file_state.hpp"
#include "layers/async/connector/mpi_staging.hpp"
#include "layers/async/connector/plan.hpp"
#include "layers/async/connector/requests/queue.hpp"
#include "layers/async/connector/requests/request.hpp"
#include "layers/async/connector/selections/blocks.hpp"
#include "layers/async/connector/selections/direct_reads.hpp"
#include "layers/async/connector/statistics.hpp"
#include "layers/async/connector/touched.hpp"
#include "vol/dataset/box_io.hpp"
#include "vol/dataset/transfer_list.hpp"

namespace headrace::async {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Reason kLeftForFile = "left_for_file";

// Why HDF5 must carry out a transfer after all; none when `action` has done it. HDF5 finds an error
// itself, if there is one, and tells it in its own words.
template <typename Action>
std::optional<Reason> attempt(const Plan& plan, const vol::Object& dataset, const char* otherwise,
                              const Action& action) {
  try {
    const PrivateErrors own;
    return action() ? std::nullopt : std::optional(plan.why);
  } catch (const std::exception& error) {
    log(Level::info, describe(dataset) + otherwise + error.what());
    return kLeftForError;
  }
}

// The plan's chunks, which are stored through the program's handle from now on.
ChunkTransfer chunks_of(const Plan& plan, const Transfer& transfer, const vol::Transfer& call) {
  plan.dataset->handle = &call.dataset;
  return {*plan.dataset, transfer, call.dxpl};
}

void read_by_chunks(const Plan& plan, const Transfer& transfer, const vol::Transfer& call,
                    std::byte* program, void** req) {
  const ChunkTransfer chunks = chunks_of(plan, transfer, call);
  if (gains_by_map(plan.dataset, transfer, call.dataset))
    read_by_map(chunks, call.dataset, program);
  else if (req != nullptr && may_read_behind(*plan.dataset, transfer))
    read_parts_behind(plan.dataset, transfer, call.dxpl, program, req);
  else
    read_parts(chunks, program);
  if (transfer.is_scattered()) ++statistics().scattered;
}

// False when HDF5 must read.
bool read_as_planned(const Plan& plan, const vol::Transfer& call, std::byte* program, void** req) {
  if (plan.route == Route::blocks) {
    const bool done = read_by_blocks(call, *plan.elements, program);
    statistics().scattered += done ? 1 : 0;
    return done;
  }
  if (!plan.transfer) return false;
  if (plan.route == Route::map) {
    read_by_map(ChunkTransfer(*plan.small, *plan.transfer, call.dxpl), call.dataset, program);
    return true;
  }
  if (plan.at_once && read_directly(call.dataset, *plan.elements, *plan.transfer, program))
    return true;
  if (plan.route == Route::chunks) read_by_chunks(plan, *plan.transfer, call, program, req);
  return plan.route == Route::chunks;
}

// False when HDF5 must write.
bool write_as_planned(const Plan& plan, const vol::Transfer& call, const std::byte* program) {
  if (plan.route == Route::blocks) {
    const bool done = write_by_blocks(call, *plan.elements, program);
    statistics().scattered += done ? 1 : 0;
    return done;
  }
  if (plan.route != Route::chunks || !plan.transfer) return false;
  write_parts(chunks_of(plan, *plan.transfer, call), program);
  if (plan.transfer->is_scattered()) ++statistics().scattered;
  return true;
}

// Why HDF5 must read; none when it is done.
std::optional<Reason> read(const Plan& plan, const vol::Transfer& call, std::byte* program,
                           void** req) {
  if (plan.route == Route::hdf5 && !plan.at_once) return plan.why;
  return attempt(plan, call.dataset,
                 " is read by HDF5: ", [&] { return read_as_planned(plan, call, program, req); });
}

// Why HDF5 must write; none when it is done.
std::optional<Reason> write(const Plan& plan, const vol::Transfer& call, const std::byte* program) {
  if (plan.dataset != nullptr && plan.dataset->reading > 0) end_reads(true);
  if (plan.route == Route::hdf5) return plan.why;
  return attempt(plan, call.dataset,
                 " is written by HDF5: ", [&] { return write_as_planned(plan, call, program); });
}

// What HDF5 is about to read or write is in the file, and what it will change is not held here.
void leave_to_hdf5(const Plan& plan, Reason why, const vol::Object& object, bool writes) {
  ++statistics().left[why];
  const Dataset* const dataset = plan.dataset.get();
  if (!nothing_waits() && (dataset != nullptr ? dataset->unstored() > 0 : !stands_alone(object)))
    store_chunks(dataset != nullptr ? vol::Touched::dataset(dataset->identity) : vol::Touched());
  if (!writes || dataset == nullptr) return;
  cache().drop(*plan.dataset);
  masks_are_possible(vol::Touched::dataset(dataset->identity));
}

// For the summary: of filters that this layer has, where a call is not one for it.
void count_left(const Plan& plan, Reason why, const vol::Transfer& call) {
  if (!summary_wanted() || plan.dataset == nullptr || why == "left_for_no_gain") return;
  share_of("async_filters").left[why] += call.bytes();
}

// HDF5 has nothing to do with the elements after it has read them: no conversion, perhaps in their
// place, and no pages of its page buffer to put over them.
bool lies_as_in_file(const Plan& plan, const vol::Object& dataset) {
  return plan.transfer && plan.transfer->is_plain_block() && reads_pass_by(*dataset.connector);
}

// Of a transfer list over MPI.
bool is_independent(hid_t dxpl) {
  int mode = 0;  // H5FD_MPIO_INDEPENDENT
  return vol::is_default(dxpl) || (h5.Pget(dxpl, "io_xfer_mode", &mode) >= 0 && mode == 0);
}

// Of a file over MPI, of which a rank decodes what it reads on its own.
herr_t read_over_mpi(const vol::Transfer& call, void* buffer, void** req) {
  carry_out_queue();
  {
    const LibraryContext apart;  // HDF5 would take the lists of our questions for the call's
    Plan plan;
    plan.why = kLeftForFile;
    if (is_independent(call.dxpl)) plan = plan_read(call, buffer, false);
    const auto why = read(plan, call, static_cast<std::byte*>(buffer), nullptr);
    if (!why) {
      vol::tell_independent(call.dxpl);
      return 0;
    }
    leave_to_hdf5(plan, *why, call.dataset, false);
  }
  return vol::pass_on(call, buffer, req);
}

herr_t read_one(const vol::Transfer& call, void* buffer, void** req) {
  if (only_decodes(*call.dataset.connector)) return read_over_mpi(call, buffer, req);
  Plan plan = plan_read(call, buffer, req != nullptr);
  if (plan.route == Route::queue && plan.transfer) {
    enqueue(call.dataset, *plan.elements, *plan.transfer, false, static_cast<std::byte*>(buffer),
            req);
    return 0;
  }
  carry_out_queue();
  const Clock::time_point begin = plan.at_once ? Clock::now() : Clock::time_point();
  if (plan.at_once) req = nullptr;
  herr_t result = 0;
  if (const auto why = read(plan, call, static_cast<std::byte*>(buffer), req)) {
    leave_to_hdf5(plan, *why, call.dataset, false);
    result = req != nullptr && lies_as_in_file(plan, call.dataset)
                 ? lend(call, buffer, req, [&] { return vol::pass_on(call, buffer, req); })
                 : vol::pass_on(call, buffer, req);
  }
  if (plan.at_once) plan.elements->pace.note_at_once(Clock::now() - begin);
  return result;
}

herr_t write_by_hdf5(const vol::Transfer& call, const void* buffer, void** req) {
  vol::SingleTransfer<const void> single(call, buffer, req);
  std::optional<ProgramBuffers> buffers;
  mark_buffers(buffers, single.call());
  const auto write = [&] { return vol::pass_on(single.call()); };
  return req == nullptr ? write() : lend(call, buffer, req, write);
}

herr_t write_one(const vol::Transfer& call, const void* buffer, void** req) {
  Plan plan;
  plan.why = kLeftForFile;
  if (!only_decodes(*call.dataset.connector)) plan = plan_write(call, buffer, req != nullptr);
  if (plan.route == Route::queue && plan.transfer) {
    // Nobody writes to the buffer.
    enqueue(call.dataset, *plan.elements, *plan.transfer, true,
            static_cast<std::byte*>(const_cast<void*>(buffer)), req);
    return 0;
  }
  carry_out_queue();
  const auto why = write(plan, call, static_cast<const std::byte*>(buffer));
  if (!why) return 0;
  count_left(plan, *why, call);
  leave_to_hdf5(plan, *why, call.dataset, true);
  return write_by_hdf5(call, buffer, req);
}

// Whether a call on several datasets is made one by one, for chunks that this layer takes over.
// HDF5 refuses such calls on virtual datasets and on several files.
template <typename Bytes>
bool splits(const vol::Transfers<Bytes>& call) {
  if (call.size() == 0 || !filters_on(*call.dataset(0).connector)) return false;
  const auto taken_over = [](void* one) { return dataset_of(vol::Object::from(one)) != nullptr; };
  const auto splittable = [&](void* one) {
    const vol::Object& object = vol::Object::from(one);
    return object.connector == call.dataset(0).connector &&
           (taken_over(one) || stands_alone(object));
  };
  return std::ranges::any_of(call.datasets(), taken_over) &&
         std::ranges::all_of(call.datasets(), splittable);
}

}  // namespace

herr_t read_datasets(const vol::Reads& reads) {
  if (reads.size() == 1) return read_one(reads[0], reads.buffer(0), reads.req());
  if (splits(reads)) {
    for (std::size_t i = 0; i < reads.size(); ++i)
      if (read_one(reads[i], reads.buffer(i), nullptr) < 0) return -1;
    return 0;
  }
  carry_out_queue();
  store_chunks();
  return vol::pass_on(reads);
}

herr_t write_datasets(const vol::Writes& writes) {
  if (writes.size() == 1) return write_one(writes[0], writes.buffer(0), writes.req());
  if (splits(writes)) {
    for (std::size_t i = 0; i < writes.size(); ++i)
      if (write_one(writes[i], writes.buffer(i), nullptr) < 0) return -1;
    return 0;
  }
  carry_out_queue();
  store_chunks();
  for (void* one : writes.datasets()) forget_touched(touched_by(vol::Object::from(one)), true);
  std::optional<ProgramBuffers> buffers;
  mark_buffers(buffers, writes);
  return vol::pass_on(writes);
}

bool read_box(vol::Object& object, Elements& elements, const engine::Box& box, std::byte* to) {
  const Plan plan = plan_box(object, elements, box, false);
  const vol::Transfer call{object, elements.type.get(), vol::kAll, vol::kAll,
                           h5.transfer_list.get()};
  const auto why = read(plan, call, to, nullptr);
  if (!why) return true;
  leave_to_hdf5(plan, *why, object, false);
  return vol::read_box(object, elements, box, to);
}

bool write_box(vol::Object& object, Elements& elements, const engine::Box& box,
               const std::byte* from) {
  const Plan plan = plan_box(object, elements, box, true);
  const vol::Transfer call{object, elements.type.get(), vol::kAll, vol::kAll,
                           h5.transfer_list.get()};
  const auto why = write(plan, call, from);
  if (!why) return true;
  leave_to_hdf5(plan, *why, object, true);
  return vol::write_box(object, elements, box, from);
}

}  // namespace headrace::async

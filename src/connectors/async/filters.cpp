#include "connectors/async/filters.hpp"

#include <vector>

#include "base/events.hpp"
#include "base/log.hpp"
#include "base/summary.hpp"
#include "connectors/async/chunks/cache.hpp"
#include "connectors/async/chunks/call.hpp"
#include "connectors/async/chunks/chunk_io.hpp"
#include "connectors/async/chunks/closings.hpp"
#include "connectors/async/chunks/reads_behind.hpp"
#include "connectors/async/file_state.hpp"
#include "connectors/async/selections/scattered.hpp"
#include "engine/thread_pool.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/selection.hpp"
#include "vol/transfer.hpp"
#include "vol/transfer_list.hpp"

namespace headrace::async {
namespace {

struct Ours {
  std::shared_ptr<Dataset> dataset;
  std::optional<Transfer> transfer;
  std::string_view why;  // there is no transfer
};

Ours ours(vol::Object& object, hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl,
          const void* buffer) {
  Ours result{dataset_of(object), std::nullopt, why_not(object)};
  if (result.dataset == nullptr || buffer == nullptr) return result;
  Dataset& dataset = *result.dataset;
  result.transfer = transfer_of(dataset, object, mem_type, mem_space, file_space, dxpl, result.why);
  if (result.transfer && !dataset.grid().countable()) result.transfer.reset();
  // Parts of chunks that cannot be kept would be decoded once for each part, as HDF5 does; which
  // may have the larger cache.
  if (result.transfer && !ChunkCache::fits(dataset) &&
      !dataset.grid().aligned(result.transfer->box)) {
    result.transfer.reset();
    result.why = "left_for_chunk_cache";
  }
  if (result.transfer) dataset.handle = &object;
  return result;
}

Taken leave_to_hdf5(const vol::Object& object, const Ours& ours, bool writes) {
  ++statistics().left[ours.why];
  if (!cache().nothing_waits() &&
      (ours.dataset != nullptr ? ours.dataset->unstored > 0 : !stands_alone(object)))
    settle(ours.dataset != nullptr ? vol::Touched::dataset(ours.dataset->identity)
                                   : vol::Touched());
  if (writes && ours.dataset != nullptr) {
    cache().drop(*ours.dataset);
    doubt(vol::Touched::dataset(
        ours.dataset->identity));  // HDF5 leaves out a filter that gains nothing
  }
  return Taken::left_to_hdf5;
}

// Of a transfer list over MPI.
bool independent(hid_t dxpl) {
  int mode = 0;  // H5FD_MPIO_INDEPENDENT
  return vol::is_default(dxpl) || (h5.Pget(dxpl, "io_xfer_mode", &mode) >= 0 && mode == 0);
}

// For the summary: of filters that this layer has, where a call is not one for it.
void count_left(vol::Object& object, const Ours& ours, hid_t mem_type, hid_t mem_space,
                hid_t file_space) {
  if (!summary_wanted() || ours.dataset == nullptr || ours.why == "left_for_no_gain") return;
  share_of("async_filters").left[ours.why] +=
      vol::transfer_bytes(&object, mem_type, mem_space, file_space);
}

std::uint64_t in_nanoseconds(std::chrono::nanoseconds time) {
  return static_cast<std::uint64_t>(time.count());
}

// Whether a call whose selection is no box is carried out here. Throws Error.
template <typename Byte>
bool take_scattered(vol::Object& object, const Ours& call, hid_t mem_type, hid_t mem_space,
                    hid_t file_space, hid_t dxpl, Byte* program) {
  constexpr bool kWrites = std::is_const_v<Byte>;
  if (program == nullptr || !vol::is_scattered(file_space) || !vol::leaves_data_alone(dxpl))
    return false;
  if (call.dataset != nullptr) {
    Dataset& dataset = *call.dataset;
    if (call.why != "left_for_selection" || !ChunkCache::fits(dataset) ||
        !dataset.grid().countable())
      return false;
    dataset.handle = &object;
    const Scattered all{object, dataset, mem_type, mem_space, file_space, dxpl};
    if constexpr (kWrites)
      return dataset.worth_encoding() && write_scattered(all, dataset, program);
    else
      return read_scattered(all, dataset, program);
  }
  if constexpr (!kWrites) {
    if (!filters_on(*object.connector)) return false;
    Elements* const elements = elements_of(object);
    return elements != nullptr && update_dims(*elements, object) &&
           read_scattered({object, *elements, mem_type, mem_space, file_space, dxpl}, program);
  }
  return false;
}

Taken read(vol::Object& object, hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl,
           void* buffer, void** req) {
  Ours call = ours(object, mem_type, mem_space, file_space, dxpl, buffer);
  try {
    const Aside aside;
    auto* const program = static_cast<std::byte*>(buffer);
    if (!call.transfer) {
      if (!take_scattered(object, call, mem_type, mem_space, file_space, dxpl, program))
        return leave_to_hdf5(object, call, false);
      ++statistics().scattered;
      return Taken::done;
    }
    if (req != nullptr && may_read_behind(*call.dataset, *call.transfer))
      read_pieces_behind(call.dataset, *call.transfer, dxpl, program, req);
    else
      read_pieces(Call(*call.dataset, *call.transfer, dxpl), program);
    return Taken::done;
  } catch (const std::exception& error) {
    // HDF5 finds the error itself, if there is one, and tells it in its own words.
    log(Level::info, describe(object) + " is read by HDF5: " + error.what());
    call.why = "left_for_error";
  }
  return leave_to_hdf5(object, call, false);
}

}  // namespace

Taken read_chunks(vol::Object& object, hid_t mem_type, hid_t mem_space, hid_t file_space,
                  hid_t dxpl, void* buffer, void** req) {
  if (!only_decodes(*object.connector))
    return read(object, mem_type, mem_space, file_space, dxpl, buffer, req);
  const LibraryContext apart;  // HDF5 would take the lists of our questions for the call's
  if (!independent(dxpl)) return leave_to_hdf5(object, {nullptr, {}, "left_for_file"}, false);
  const Taken taken = read(object, mem_type, mem_space, file_space, dxpl, buffer, nullptr);
  if (taken == Taken::done) vol::tell_independent(dxpl);
  return taken;
}

Taken write_chunks(vol::Object& object, hid_t mem_type, hid_t mem_space, hid_t file_space,
                   hid_t dxpl, const void* buffer) {
  if (only_decodes(*object.connector))
    return leave_to_hdf5(object, {nullptr, {}, "left_for_file"}, true);
  Ours call = ours(object, mem_type, mem_space, file_space, dxpl, buffer);
  if (call.dataset != nullptr && call.dataset->reading > 0) end_reads(true);
  if (call.transfer && !may_write(*object.connector)) {  // which HDF5 refuses
    call.transfer.reset();
    call.why = "left_for_error";
  } else if (call.transfer && !call.dataset->worth_encoding()) {
    call.transfer.reset();
    call.why = "left_for_no_gain";
  }
  try {
    const Aside aside;
    const auto* const program = static_cast<const std::byte*>(buffer);
    if (!call.transfer && may_write(*object.connector) &&
        take_scattered(object, call, mem_type, mem_space, file_space, dxpl, program)) {
      ++statistics().scattered;
      return Taken::done;
    }
  } catch (const std::exception& error) {
    log(Level::info, describe(object) + " is written by HDF5: " + error.what());
    call.why = "left_for_error";
  }
  if (!call.transfer) {
    count_left(object, call, mem_type, mem_space, file_space);
    return leave_to_hdf5(object, call, true);
  }
  try {
    const Aside aside;
    write_pieces(Call(*call.dataset, *call.transfer, dxpl), static_cast<const std::byte*>(buffer));
    return Taken::done;
  } catch (const std::exception& error) {
    log(Level::info, describe(object) + " is written by HDF5: " + error.what());
    call.why = "left_for_error";
  }
  return leave_to_hdf5(object, call, true);
}

void settle(const vol::Touched& touched, const vol::UnderConnector* through) noexcept {
  if (any_closing()) end_reads(true);
  cache().settle(touched, through);
}

vol::Touched touched_by(vol::Object& dataset) {
  if (!stands_alone(dataset)) return {};
  const Elements* const elements = elements_of(dataset);
  return elements == nullptr ? vol::Touched() : vol::Touched::dataset(elements->identity);
}

vol::Touched touched_by(const vol::Effects& effects, vol::Object* object) {
  if (object == nullptr || !filters_on(*object->connector)) return {};
  if (effects.reach == vol::Reach::object) return touched_by(*object);
  return effects.reach == vol::Reach::file ? file_touched_by(effects, *object) : vol::Touched();
}

void distrust(const vol::Touched& touched, bool masks) {
  end_reads(true);  // HDF5 might have to read for them what was there at their time
  settle(touched);
  extents_may_have_changed();
  for_each_dataset([&](Dataset& one) {
    if (touched.has(one.identity)) cache().drop(one);
  });
  if (masks) doubt(touched);
}

bool only_grows(const vol::Object& object, const hsize_t* extent) {
  const auto dataset = known_dataset_of(object);
  if (dataset == nullptr || !extent_known(*dataset) || extent[0] < dataset->dims[0]) return false;
  for (unsigned d = 1; d < dataset->rank; ++d)
    if (extent[d] != dataset->dims[d]) return false;
  extents_may_have_changed();
  return true;
}

void let_go(const vol::Object& object) {
  const auto dataset = known_dataset_of(object);
  if (dataset == nullptr || dataset->handle != &object) return;
  if (dataset->reading > 0) end_reads(true);
  if (dataset->unstored > 0) settle(vol::Touched::dataset(dataset->identity));
  dataset->handle = nullptr;
}

const char* why_left_to_hdf5(vol::Object& object) {
  constexpr std::string_view kPrefix = "left_for_";
  if (const auto dataset = dataset_of(object); dataset != nullptr)
    return ChunkCache::fits(*dataset) ? "" : "chunk_cache";
  return ask_why_not(object).substr(kPrefix.size()).data();  // of a literal
}

void report_filters() {
  const Statistics done = std::exchange(statistics(), {});
  const engine::WorkerTimes workers = engine::take_worker_times();
  std::uint64_t calls = 0;
  for (const auto& [why, count] : done.left) calls += count;
  std::vector<std::pair<std::string_view, std::uint64_t>> values{
      {"chunks_encoded", done.encoded},
      {"encoded_bytes", done.encoded_bytes},
      {"encoded_to_bytes", done.stored_bytes},
      {"chunks_left_out", done.left_out},
      {"chunks_encoded_behind", done.encoded_behind},
      {"chunks_decoded", done.decoded},
      {"decoded_bytes", done.decoded_bytes},
      {"chunks_decoded_behind", done.decoded_behind},
      {"chunk_cache_hits", done.cache_hits},
      {"direct_reads", done.direct_reads},
      {"scattered_calls", done.scattered},
      {"requests_merged", done.requests_merged},
      {"calls_left_to_hdf5", calls},
      {"workers_ns", in_nanoseconds(workers.working)},
      {"workers_beside_the_program_ns", in_nanoseconds(workers.beside)},
      {"program_waited_ns", in_nanoseconds(workers.waited)},
  };
  values.insert(values.end(), done.left.begin(), done.left.end());
  if (done.encoded_bytes > 0) share_of("async_filters").taken += done.encoded_bytes;
  report_statistics(Seat::vol, "headrace_async", "", values);
}

}  // namespace headrace::async

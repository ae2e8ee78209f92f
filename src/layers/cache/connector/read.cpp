#include "layers/cache/connector/read.hpp"

#include <chrono>
#include <variant>

#include "base/report/log.hpp"
#include "engine/memory/kind.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/cache/connector/reading.hpp"
#include "layers/cache/connector/statistics.hpp"
#include "vol/dataset/transfer_list.hpp"

namespace headrace::cache {
namespace {

using vol::Reason;

// Why HDF5 must read, as far as that is known without looking at the call.
Reason why_not(const CachedDataset& dataset, const void* program) {
  if (program == nullptr || engine::is_device_memory(program)) return "left_for_memory";
  if (!dataset.file.is_quiet()) return "left_for_writers";
  if (!dataset.file.has_settled()) return "left_for_recent_change";
  if (dataset.uses != nullptr && dataset.uses->passes_over()) return kLeftForOrder;
  return {};
}

// Why HDF5 must read; none when it is done. Throws Error.
Reason try_read(CachedDataset& dataset, const vol::Transfer& call, std::byte* program) {
  const PrivateErrors own;
  const auto found = vol::element_transfer_of(dataset.chunked, call);
  if (const auto* const why = std::get_if<Reason>(&found)) return *why;
  const vol::ChunkTransfer transfer(dataset.chunked, std::get<vol::ElementTransfer>(found),
                                    call.dxpl);
  return Reading(transfer, dataset, call.dataset, program).parts();
}

Reason read(const vol::Transfer& call, void* program) {
  const auto known = dataset_of(call.dataset);
  if (const auto* const why = std::get_if<Reason>(&known)) return *why;
  CachedDataset& dataset = *std::get<CachedDataset*>(known);
  if (const Reason why = why_not(dataset, program); !why.empty()) return why;
  try {
    return try_read(dataset, call, static_cast<std::byte*>(program));
  } catch (const std::exception& error) {
    log(Level::info, vol::describe(call.dataset) + " is read by HDF5: " + error.what());
    return "left_for_error";
  }
}

// Ranks that read together must all do so.
Reason read_over_mpi(const vol::Transfer& call, void* program) {
  const LibraryContext apart;  // HDF5 would take the lists of our questions for the call's
  if (vol::collective(call.dxpl)) return "left_for_collective";
  const Reason why = read(call, program);
  if (why.empty()) vol::tell_independent(call.dxpl);
  return why;
}

// Why HDF5 must read; none when it is done.
Reason answer(const vol::Transfer& call, void* program) {
  const auto* const file = call.dataset.connector->state.find<OpenedFile>();
  const bool over_mpi = file != nullptr && file->over_mpi();
  const Reason why = over_mpi ? read_over_mpi(call, program) : read(call, program);
  if (!why.empty()) ++statistics().left[why];
  return why;
}

// What has no filters, for the first time: the storage may be slow.
herr_t read_and_measure(const vol::Reads& reads) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const herr_t result = vol::pass_on(reads);
  const auto time = Clock::now() - begin;
  const vol::Transfer call = reads[0];
  const auto known = dataset_of(call.dataset);
  if (auto* const* const found = std::get_if<CachedDataset*>(&known)) {
    const CachedDataset& dataset = **found;
    // HDF5 reads chunks as a whole.
    const std::uint64_t more = dataset.contiguous ? 0 : dataset.chunked.chunk_bytes;
    dataset.uses->note_time(call.bytes() + more, time);
  }
  return result;
}

}  // namespace

herr_t read_datasets(const vol::Reads& reads) {
  if (reads.size() == 1) {
    const Reason why = answer(reads[0], reads.buffer(0));
    if (why.empty()) return 0;
    return why == kLeftForFirstUse ? read_and_measure(reads) : vol::pass_on(reads);
  }
  vol::TransferList<void> rest;
  for (std::size_t i = 0; i < reads.size(); ++i)
    if (!answer(reads[i], reads.buffer(i)).empty()) rest.add(reads[i], reads.buffer(i));
  return rest.empty() ? 0 : vol::pass_on(rest.call(reads.dxpl(), reads.req()));
}

}  // namespace headrace::cache

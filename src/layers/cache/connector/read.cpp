#include "layers/cache/connector/read.hpp"

#include "base/report/log.hpp"
#include "engine/memory/kind.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/cache/connector/cached_dataset.hpp"
#include "layers/cache/connector/statistics.hpp"
#include "vol/chunks/parts.hpp"
#include "vol/chunks/reader.hpp"

namespace headrace::cache {
namespace {

using engine::cache::Claim;
using engine::cache::Key;
using vol::Reason;

// A read of one dataset.
struct Reading {
  const vol::ChunkTransfer& transfer;
  const CachedDataset& dataset;
  UnderDataset below;
  std::byte* program;

  [[nodiscard]] Key key_of(const vol::Part& part) const { return {dataset.key, part.chunk}; }
  [[nodiscard]] std::size_t bytes_of(const vol::Part& part) const {
    return part.elements * transfer.transfer().mem_element;
  }
};

bool is_hit(const Reading& read, const vol::Part& part) {
  bool delivered = false;
  const auto deliver = [&](std::span<const std::byte> chunk) {
    if (chunk.size() != read.dataset.chunked.chunk_bytes) return;
    read.transfer.deliver(part, chunk.data(), read.program);
    delivered = true;
  };
  if (!read.dataset.file.store().read(read.key_of(part), deliver) || !delivered) return false;
  ++statistics().hits;
  statistics().hit_bytes += read.bytes_of(part);
  return true;
}

// Decodes the chunk into its shared place. Where nothing was written of it there is none. Throws
// Error.
Reason decode(const Reading& read, const vol::Part& part, Claim claim) {
  const auto stored = vol::load_chunk(read.dataset.chunked, read.below, part.origin);
  if (!read.dataset.file.is_unchanged()) return "left_for_change";
  if (stored.bytes.size() == 0) {
    read.transfer.deliver_fill(part, read.program);
    return {};
  }
  vol::decode(read.dataset.chunked, stored, claim.bytes());
  read.transfer.deliver(part, claim.bytes().data(), read.program);
  claim.publish();
  ++statistics().filled;
  statistics().filled_bytes += read.dataset.chunked.chunk_bytes;
  return {};
}

// Why HDF5 must read it all; none when the part is delivered.
Reason fill(const Reading& read, const vol::Part& part) {
  engine::cache::SharedStore& store = read.dataset.file.store();
  const std::size_t bytes = read.dataset.chunked.chunk_bytes;
  Claim claim = store.claim(read.key_of(part), bytes);
  if (claim) return decode(read, part, std::move(claim));
  if (!store.wait_for(read.key_of(part), bytes) || !is_hit(read, part)) return "left_for_room";
  ++statistics().awaited;
  return {};
}

Reason read_parts(const Reading& read) {
  vol::Parts parts(read.transfer);
  for (vol::Part part; parts.next(part);) {
    if (is_hit(read, part)) continue;
    if (const Reason why = fill(read, part); !why.empty()) return why;
  }
  return {};
}

// Why HDF5 must read, as far as that is known without looking at the call.
Reason why_not(const CachedDataset& dataset, const void* program) {
  if (program == nullptr || engine::is_device_memory(program)) return "left_for_memory";
  if (!dataset.file.is_quiet()) return "left_for_writers";
  if (!dataset.file.has_settled()) return "left_for_recent_change";
  return {};
}

// Why HDF5 must read; none when it is done. Throws Error.
Reason try_read(CachedDataset& dataset, const vol::Transfer& call, std::byte* program) {
  const PrivateErrors own;
  const auto found = vol::element_transfer_of(dataset.chunked, call);
  if (const auto* const why = std::get_if<Reason>(&found)) return *why;
  const vol::ChunkTransfer transfer(dataset.chunked, std::get<vol::ElementTransfer>(found),
                                    call.dxpl);
  const UnderDataset below{call.dataset.under, call.dataset.connector->id()};
  return read_parts({transfer, dataset, below, program});
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

bool is_answered(const vol::Transfer& call, void* program) {
  const Reason why = read(call, program);
  if (!why.empty()) ++statistics().left[why];
  return why.empty();
}

}  // namespace

herr_t read_datasets(const vol::Reads& reads) {
  if (reads.size() == 1) return is_answered(reads[0], reads.buffer(0)) ? 0 : vol::pass_on(reads);
  vol::TransferList<void> rest;
  for (std::size_t i = 0; i < reads.size(); ++i)
    if (!is_answered(reads[i], reads.buffer(i))) rest.add(reads[i], reads.buffer(i));
  return rest.empty() ? 0 : vol::pass_on(rest.call(reads.dxpl(), reads.req()));
}

}  // namespace headrace::cache

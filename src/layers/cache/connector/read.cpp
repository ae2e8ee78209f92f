#include "layers/cache/connector/read.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "base/report/log.hpp"
#include "engine/memory/kind.hpp"
#include "engine/threads/ordered.hpp"
#include "engine/threads/thread_pool.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/cache/connector/cached_dataset.hpp"
#include "layers/cache/connector/statistics.hpp"
#include "vol/chunks/parts.hpp"
#include "vol/chunks/reader.hpp"
#include "vol/dataset/transfer_list.hpp"

namespace headrace::cache {
namespace {

using engine::cache::Claim;
using engine::cache::Key;
using vol::Reason;

constexpr Reason kLeftForFirstUse = "left_for_first_use";
constexpr Reason kLeftInOrder = "left_in_order";

// A read of one dataset.
class Reading {
 public:
  // `object`: the program's handle of the dataset.
  Reading(const vol::ChunkTransfer& transfer, const CachedDataset& dataset, vol::Object& object,
          std::byte* program)
      : transfer_(transfer), dataset_(dataset), object_(object), program_(program) {}

  // Why HDF5 must read it all; none when it is done. Throws Error.
  Reason parts();

 private:
  friend class FillJob;

  [[nodiscard]] Key key_of(const vol::Part& part) const { return {dataset_.key, part.chunk}; }
  [[nodiscard]] std::size_t bytes() const { return dataset_.chunked.chunk_bytes; }
  [[nodiscard]] engine::cache::SharedStore& store() const { return dataset_.file.store(); }
  // None for what a filter of others has decoded: another version may come, which does it
  // otherwise.
  [[nodiscard]] NodeDisk* disk() const {
    return dataset_.chunked.by_hdf5 && !dataset_.contiguous ? nullptr : dataset_.file.disk();
  }
  bool is_hit(const vol::Part& part);
  bool was_used(const vol::Part& part);
  bool is_worth_it(const vol::Part& part, std::uint64_t first);
  Reason leave(vol::Parts& parts, vol::Part part, std::uint64_t first);
  Reason fill(const vol::Part& part);
  Reason decode(const vol::Part& part, Claim claim);
  Reason decode_by_hdf5(const vol::Part& part, Claim claim);
  void note_filled(const vol::Part& part) const;
  void hand_over(const vol::Part& part, Claim& claim) const;

  const vol::ChunkTransfer& transfer_;
  const CachedDataset& dataset_;
  vol::Object& object_;
  std::byte* program_;
  std::optional<engine::Ordered> decoding_;  // of reads of several chunks
};

// Decodes a chunk into its shared place.
class FillJob : public engine::Job {
 public:
  FillJob(const Reading& read, const vol::Part& part, vol::StoredChunk stored, Claim claim)
      : read_(read), part_(part), stored_(std::move(stored)), claim_(std::move(claim)) {}

  void work() override {
    vol::decode(read_.dataset_.chunked, stored_, claim_.bytes());
    if (!converts()) read_.hand_over(part_, claim_);
  }
  void finish() override {
    if (converts()) read_.hand_over(part_, claim_);
    read_.note_filled(part_);
  }

 private:
  // HDF5 does that, on the program's thread.
  [[nodiscard]] bool converts() const { return read_.transfer_.transfer().converts; }

  const Reading& read_;
  vol::Part part_;
  vol::StoredChunk stored_;
  Claim claim_;
};

bool Reading::is_hit(const vol::Part& part) {
  bool delivered = false;
  const auto deliver = [&](std::span<const std::byte> chunk) {
    if (chunk.size() != bytes()) return;
    transfer_.deliver(part, chunk.data(), program_);
    delivered = true;
  };
  if (!store().read(key_of(part), deliver) || !delivered) return false;
  ++statistics().hits;
  statistics().hit_bytes += part.elements * transfer_.transfer().mem_element;
  return true;
}

void Reading::hand_over(const vol::Part& part, Claim& claim) const {
  transfer_.deliver(part, claim.bytes().data(), program_);
  claim.publish();
}

void Reading::note_filled(const vol::Part& part) const {
  ++statistics().filled;
  statistics().filled_bytes += bytes();
  if (NodeDisk* const disk = this->disk(); disk != nullptr && dataset_.file.may_be_on_disk())
    disk->keep_later(key_of(part), {dataset_.on_disk, part.chunk}, bytes(), store());
}

// Where nothing was written of the chunk there is none. What a call reads of one chunk alone is
// decoded at once.
Reason Reading::decode(const vol::Part& part, Claim claim) {
  const UnderDataset below{object_.under, object_.connector->id()};
  auto stored = vol::load_chunk(dataset_.chunked, below, part.origin);
  if (!dataset_.file.is_unchanged()) return "left_for_change";
  if (stored.bytes.size() == 0) {
    transfer_.deliver_fill(part, program_);
    return {};
  }
  auto job = std::make_unique<FillJob>(*this, part, std::move(stored), std::move(claim));
  if (part.elements == transfer_.transfer().elements) {
    job->work();
    job->finish();
    return {};
  }
  if (!decoding_) decoding_.emplace(2 * std::size_t{engine::workers()});
  decoding_->give(std::move(job));
  return {};
}

Reason Reading::decode_by_hdf5(const vol::Part& part, Claim claim) {
  if (!dataset_.contiguous &&
      !vol::is_stored({object_.under, object_.connector->id()}, part.origin)) {
    if (!dataset_.file.is_unchanged()) return "left_for_change";
    transfer_.deliver_fill(part, program_);
    return {};
  }
  vol::read_by_hdf5(object_, dataset_.chunked, part.origin, claim.bytes());
  if (!dataset_.file.is_unchanged()) return "left_for_change";
  hand_over(part, claim);
  note_filled(part);
  return {};
}

Reason Reading::fill(const vol::Part& part) {
  Claim claim = store().claim(key_of(part), bytes());
  // All places for it may be those that this call fills just now.
  if (!claim && decoding_ && !decoding_->empty()) {
    decoding_->finish();
    claim = store().claim(key_of(part), bytes());
  }
  if (!claim) {
    if (!store().wait_for(key_of(part), bytes()) || !is_hit(part)) return "left_for_room";
    ++statistics().awaited;
    return {};
  }
  NodeDisk* const disk = this->disk();
  if (disk == nullptr || !disk->store().load({dataset_.on_disk, part.chunk}, claim.bytes()))
    return dataset_.chunked.by_hdf5 ? decode_by_hdf5(part, std::move(claim))
                                    : decode(part, std::move(claim));
  hand_over(part, claim);
  ++statistics().from_disk;
  statistics().from_disk_bytes += bytes();
  return {};
}

// Whether what has no filters has been read before. Notes it among the chunks, with a number that
// none of them has: for all processes, as loaders come and go.
bool Reading::was_used(const vol::Part& part) {
  constexpr std::uint64_t kUsed = std::uint64_t{1} << 63U;
  const Key key{dataset_.key, part.chunk | kUsed};
  Claim claim = store().claim(key, sizeof kUsed);
  if (!claim) return store().read(key, [](std::span<const std::byte>) {});
  std::ranges::fill(claim.bytes(), std::byte{1});
  claim.publish();
  return false;
}

// Whether a part that has no filters is to be kept: where somebody has read it before, but not just
// now. All of a chunk the system copies as fast from where it keeps it itself.
bool Reading::is_worth_it(const vol::Part& part, std::uint64_t first) {
  if (dataset_.uses->is_slow()) return !part.whole || was_used(part);
  return !part.whole && !dataset_.uses->goes_on(first) && was_used(part);
}

// HDF5 reads this part and all that follow. Each is noted, so that the next call finds all of them
// worth it; but for calls that are too large for that.
Reason Reading::leave(vol::Parts& parts, vol::Part part, std::uint64_t first) {
  constexpr std::size_t kMost = 4096;
  const bool notes = !part.whole && !dataset_.uses->goes_on(first);
  std::size_t count = 1;
  for (vol::Part next; parts.next(next) && count < kMost; ++count) {
    part = next;
    if (notes) was_used(part);
  }
  const bool goes_on = dataset_.uses->goes_on(first);
  dataset_.uses->note_left({first, part.chunk, count * bytes()});
  return goes_on ? kLeftInOrder : kLeftForFirstUse;
}

Reason Reading::parts() {
  vol::Parts parts(transfer_);
  Uses::Call call{};
  for (vol::Part part; parts.next(part); call.bytes += bytes()) {
    if (call.bytes == 0) call.first = part.chunk;
    call.last = part.chunk;
    if (is_hit(part)) continue;
    if (dataset_.uses != nullptr && !is_worth_it(part, call.first))
      return leave(parts, part, call.first);
    if (const Reason why = fill(part); !why.empty()) return why;
  }
  if (decoding_) decoding_->finish();
  if (dataset_.uses != nullptr) dataset_.uses->note_answered(call);
  return {};
}

// Why HDF5 must read, as far as that is known without looking at the call.
Reason why_not(const CachedDataset& dataset, const void* program) {
  if (program == nullptr || engine::is_device_memory(program)) return "left_for_memory";
  if (!dataset.file.is_quiet()) return "left_for_writers";
  if (!dataset.file.has_settled()) return "left_for_recent_change";
  if (dataset.uses != nullptr && dataset.uses->passes_over()) return kLeftInOrder;
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

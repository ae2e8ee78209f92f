#include "layers/cache/connector/reading.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/reading/pieces.hpp"
#include "engine/threads/thread_pool.hpp"
#include "layers/cache/connector/statistics.hpp"
#include "vol/chunks/reader.hpp"

namespace headrace::cache {

using engine::cache::Claim;
using engine::cache::Key;
using vol::Reason;

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
    read_.filled(part_.chunk).note();
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

Filled Reading::filled(std::uint64_t chunk) const {
  NodeDisk* const disk = dataset_.file.may_be_on_disk() ? this->disk() : nullptr;
  return {{dataset_.key, chunk}, {dataset_.on_disk, chunk}, bytes(), store(), disk};
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
  filled(part.chunk).note();
  return {};
}

Reason Reading::fill(const vol::Part& part) {
  constexpr std::uint64_t kMany = 8;  // chunks
  if (dataset_.ahead == nullptr && !dataset_.chunked.by_hdf5 && dataset_.uses == nullptr &&
      engine::count_chunks(transfer_.grid()) >= kMany)
    dataset_.ahead = dataset_.file.ahead_of(dataset_.key.token);
  Claim claim = store().claim(key_of(part), bytes());
  // All places for it may be those that this call fills just now.
  if (!claim && decoding_ && !decoding_->empty()) {
    decoding_->finish();
    claim = store().claim(key_of(part), bytes());
  }
  while (!claim && dataset_.ahead != nullptr && !dataset_.ahead->jobs().empty()) {
    dataset_.ahead->jobs().finish_oldest();
    if (is_hit(part)) return {};
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
  const Key key{dataset_.key, part.chunk | engine::cache::kNoChunk};
  if (store().read(key, [](std::span<const std::byte>) {})) return true;
  Claim claim;
  if (dataset_.file.notes_one_of(in_a_sixteenth(engine::cache::kPage)))
    claim = store().claim(key, sizeof key);
  if (!claim) return false;
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
  const bool notes = dataset_.uses->is_slow() || (!part.whole && !dataset_.uses->goes_on(first));
  std::size_t count = 1;
  for (vol::Part next; parts.next(next) && count < kMost; ++count) {
    part = next;
    if (notes) was_used(part);
  }
  const bool goes_on = dataset_.uses->goes_on(first);
  dataset_.uses->note_left({first, part.chunk, count * bytes()});
  return goes_on ? kLeftForOrder : kLeftForFirstUse;
}

Reason Reading::parts() {
  vol::Parts parts(transfer_);
  Uses::Call call{};
  for (vol::Part part; parts.next(part); call.bytes += bytes()) {
    if (call.bytes == 0) {
      call.first = part.chunk;
      if (dataset_.ahead != nullptr && dataset_.ahead->expects()) follow_order(part.chunk);
    }
    call.last = part.chunk;
    if (is_hit(part)) continue;
    if (dataset_.uses != nullptr && !is_worth_it(part, call.first))
      return leave(parts, part, call.first);
    if (const Reason why = fill(part); !why.empty()) return why;
  }
  if (decoding_) decoding_->finish();
  if (dataset_.uses != nullptr) dataset_.uses->note_answered(call);
  if (dataset_.ahead != nullptr) decode_ahead(call);
  return {};
}

}  // namespace headrace::cache

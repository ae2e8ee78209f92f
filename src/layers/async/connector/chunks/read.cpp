#include "layers/async/connector/chunks/read.hpp"

#include "layers/async/connector/chunks/cache.hpp"
#include "layers/async/connector/statistics.hpp"

namespace headrace::async {
namespace {

using engine::Buffer;

class ReadJob final : public engine::Job {
 public:
  ReadJob(const ChunkTransfer& transfer, const Part& part, StoredChunk stored, std::byte* program)
      : transfer_(transfer), part_(part), stored_(std::move(stored)), program_(program) {}

  void work() override {
    chunk_ = decode_part(transfer_, part_, stored_.bytes.bytes(), stored_.mask, program_,
                         is_kept(transfer_, part_));
  }

  void finish() override {
    finish_part(transfer_, part_, stored_.mask, std::move(chunk_), program_);
  }

 private:
  const ChunkTransfer& transfer_;
  Part part_;
  StoredChunk stored_;
  std::byte* program_;
  Buffer chunk_;
};

}  // namespace

// Who reads whole chunks one after the other seldom reads them again; who reads them by lists, as
// loaders of samples do, reads them again in another order.
bool is_kept(const ChunkTransfer& transfer, const Part& part) {
  return !part.covers || transfer.transfer().is_scattered();
}

void finish_part(const ChunkTransfer& transfer, const Part& part, std::uint32_t mask, Buffer chunk,
                 std::byte* program) {
  if (transfer.transfer().converts) transfer.deliver(part, chunk.data(), program);
  // Of a chunk that lacks filters the cache would not know it.
  if (!is_kept(transfer, part) || mask != 0) return;
  cache().keep(transfer.dataset(), part.chunk, std::move(chunk));
}

Buffer decode_part(const ChunkTransfer& transfer, const Part& part,
                   std::span<const std::byte> stored, std::uint32_t mask, std::byte* program,
                   bool keep) {
  const Dataset& dataset = transfer.dataset();
  const bool converts = transfer.transfer().converts;
  const auto place = transfer.in_program(part, program);
  if (std::byte* const straight = keep || converts ? nullptr : transfer.as_chunk(part, place)) {
    engine::decode(dataset.pipeline, mask, stored, {straight, dataset.chunk_bytes});
    return {};
  }
  Buffer chunk(dataset.chunk_bytes);
  engine::decode(dataset.pipeline, mask, stored, chunk.bytes());
  if (!converts) transfer.gather(part, chunk.data(), place);
  return chunk;
}

void read_now(const ChunkTransfer& transfer, const Part& part, StoredChunk stored,
              std::byte* program, engine::Ordered& ordered) {
  ordered.give(std::make_unique<ReadJob>(transfer, part, std::move(stored), program));
}

bool deliver_cached(const ChunkTransfer& transfer, const Part& part, std::byte* program) {
  const auto deliver = [&](std::span<const std::byte> chunk) {
    transfer.deliver(part, chunk.data(), program);
  };
  if (!cache().read(transfer.dataset(), part.chunk, deliver)) return false;
  ++statistics().cache_hits;
  return true;
}

void read_parts(const ChunkTransfer& transfer, std::byte* program) {
  store_encoded();
  engine::Ordered ordered(window_of(transfer.dataset()));
  Parts parts(transfer);
  for (Part part; parts.next(part);) {
    if (deliver_cached(transfer, part, program)) continue;
    StoredChunk stored = load_chunk(transfer.dataset(), part.origin);
    if (stored.bytes.size() == 0)
      transfer.deliver_fill(part, program);
    else
      read_now(transfer, part, std::move(stored), program, ordered);
  }
  ordered.finish();
}

}  // namespace headrace::async

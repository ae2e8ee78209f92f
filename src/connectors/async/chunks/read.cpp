#include "connectors/async/chunks/read.hpp"

#include "connectors/async/chunks/cache.hpp"

namespace headrace::async {
namespace {

using engine::Buffer;
using engine::Piece;

// Whether the chunk lies in the program's memory as it is.
bool straight(const Call& call, const Piece& piece) {
  if (!piece.whole || call.transfer.converts) return false;
  for (unsigned d = 0; d < call.dataset.rank; ++d)
    if (piece.box.count[d] != 1 && call.transfer.mem_strides[d] != call.chunk_strides[d])
      return false;
  return true;
}

class ReadJob final : public engine::Job {
 public:
  ReadJob(const Call& call, const Piece& piece, StoredChunk stored, std::byte* program)
      : call_(call), piece_(piece), stored_(std::move(stored)), program_(program) {}

  void work() override { chunk_ = decode_piece(call_, piece_, stored_, program_, keep()); }

  void finish() override {
    if (call_.transfer.converts)
      call_.deliver(piece_, call_.in_chunk<const std::byte>(piece_, chunk_.data()), program_);
    // Of a chunk that lacks filters the cache would not know it.
    if (!keep() || stored_.mask != 0) return;
    cache().insert(std::make_shared<CachedChunk>(call_.dataset, piece_, std::move(chunk_)));
  }

 private:
  [[nodiscard]] bool keep() const { return !piece_.covers; }

  const Call& call_;
  Piece piece_;
  StoredChunk stored_;
  std::byte* program_;
  Buffer chunk_;
};

}  // namespace

Buffer decode_piece(const Call& call, const Piece& piece, const StoredChunk& stored,
                    std::byte* program, bool keep) {
  const Dataset& dataset = call.dataset;
  if (!keep && straight(call, piece)) {
    const auto to = call.in_program(piece, program);
    engine::decode(dataset.pipeline, stored.mask, stored.bytes.bytes(),
                   {to.data, dataset.chunk_bytes});
    return {};
  }
  Buffer chunk(dataset.chunk_bytes);
  engine::decode(dataset.pipeline, stored.mask, stored.bytes.bytes(), chunk.bytes());
  if (!call.transfer.converts)
    call.deliver(piece, call.in_chunk<const std::byte>(piece, chunk.data()), program);
  return chunk;
}

void read_now(const Call& call, const Piece& piece, StoredChunk stored, std::byte* program,
              engine::Ordered& ordered) {
  ordered.give(std::make_unique<ReadJob>(call, piece, std::move(stored), program));
}

bool deliver_cached(const Call& call, const Piece& piece, std::byte* program) {
  const ChunkRef chunk = cache().find(call.dataset, piece.chunk);
  if (chunk == nullptr) return false;
  ++statistics().cache_hits;
  call.deliver(piece, call.in_chunk<const std::byte>(piece, chunk->bytes.data()), program);
  return true;
}

void read_pieces(const Call& call, std::byte* program) {
  cache().store_encoded();
  engine::Ordered ordered(window_of(call.dataset));
  engine::Pieces pieces(call.grid, call.transfer.box);
  for (Piece piece; pieces.next(piece);) {
    if (deliver_cached(call, piece, program)) continue;
    StoredChunk stored = load_chunk(call.dataset, piece.origin);
    if (stored.bytes.size() == 0)
      call.deliver_fill(piece, program);
    else
      read_now(call, piece, std::move(stored), program, ordered);
  }
  ordered.finish();
}

}  // namespace headrace::async

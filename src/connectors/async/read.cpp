#include "connectors/async/call.hpp"
#include "connectors/async/chunk_cache.hpp"
#include "connectors/async/chunk_io.hpp"
#include "engine/ordered.hpp"

namespace headrace::async {
namespace {

using engine::Buffer;
using engine::Piece;

class ReadJob final : public engine::Job {
 public:
  ReadJob(const Call& call, const Piece& piece, StoredChunk stored, std::byte* program, bool keep)
      : call_(call), piece_(piece), stored_(std::move(stored)), program_(program), keep_(keep) {}

  void work() override {
    const Dataset& dataset = call_.dataset;
    if (straight()) {
      const auto to = call_.in_program(piece_, program_);
      engine::decode(dataset.pipeline, stored_.mask, stored_.bytes.bytes(),
                     {to.data, dataset.chunk_bytes});
      return;
    }
    chunk_ = Buffer(dataset.chunk_bytes);
    engine::decode(dataset.pipeline, stored_.mask, stored_.bytes.bytes(), chunk_.bytes());
    if (!call_.transfer.converts) deliver();
  }

  void finish() override {
    if (call_.transfer.converts) deliver();
    if (!keep_) return;
    cache().insert(std::make_shared<CachedChunk>(call_.dataset, piece_, std::move(chunk_)));
  }

 private:
  // Whether the chunk lies in the program's memory as it is.
  [[nodiscard]] bool straight() const {
    if (!piece_.whole || keep_ || call_.transfer.converts) return false;
    for (unsigned d = 0; d < call_.dataset.rank; ++d)
      if (piece_.box.count[d] != 1 && call_.transfer.mem_strides[d] != call_.chunk_strides[d])
        return false;
    return true;
  }

  void deliver() {
    const auto from = call_.in_chunk<const std::byte>(piece_, chunk_.data());
    call_.deliver(piece_, from, program_);
  }

  const Call& call_;
  Piece piece_;
  StoredChunk stored_;
  std::byte* program_;
  bool keep_;
  Buffer chunk_;
};

}  // namespace

void read_pieces(const Call& call, std::byte* program) {
  cache().store_encoded();
  engine::Ordered ordered(window_of(call.dataset));
  engine::Pieces pieces(call.grid, call.transfer.box);
  for (Piece piece; pieces.next(piece);) {
    if (const ChunkRef chunk = cache().find(call.dataset, piece.chunk)) {
      ++statistics().cache_hits;
      call.deliver(piece, call.in_chunk<const std::byte>(piece, chunk->bytes.data()), program);
      continue;
    }
    StoredChunk stored = load_chunk(call.dataset, piece.origin);
    if (stored.bytes.size() == 0)
      call.deliver_fill(piece, program);
    else
      ordered.give(
          std::make_unique<ReadJob>(call, piece, std::move(stored), program, !piece.covers));
  }
  ordered.finish();
}

}  // namespace headrace::async

#include "connectors/async/chunks/cache.hpp"
#include "connectors/async/chunks/call.hpp"
#include "connectors/async/chunks/chunk_io.hpp"
#include "engine/ordered.hpp"

namespace headrace::async {
namespace {

using engine::Buffer;
using engine::Piece;

// A piece of what the program writes, in the file's type.
struct Source {
  Place<const std::byte> place;
  Buffer converted;  // where it is, unless that is the program's memory
};

Source source_of(const Call& call, const Piece& piece, const std::byte* program) {
  const Place<const std::byte> given = call.in_program(piece, program);
  if (!call.transfer.converts) return {given, Buffer()};
  Buffer buffer = call.conversion_buffer(piece);
  call.copy(piece, call.transfer.mem_element, given,
            call.dense(piece, buffer, call.transfer.mem_element));
  call.convert(call.transfer.mem_type, call.dataset.type.get(), piece, buffer);
  const Place<std::byte> dense = call.dense(piece, buffer, call.dataset.element);
  return {{dense.data, dense.strides}, std::move(buffer)};
}

// Only the last part of a large write: what comes before would be waited for, and costs a copy.
bool may_be_behind(const Dataset& dataset, std::size_t elements_left) {
  return engine::may_run_behind(dataset.pipeline) && ChunkCache::fits(dataset) &&
         elements_left <= ChunkCache::behind_limit(dataset) / dataset.element;
}

// A chunk all of which is written, to be encoded after the program's call has returned.
void write_behind(const Call& call, const Piece& piece, const Source& source) {
  Buffer raw(call.dataset.chunk_bytes);
  if (!piece.whole) engine::fill_all(call.dataset.fill, raw.bytes());
  call.copy(piece, call.dataset.element, source.place, call.in_chunk(piece, raw.data()));
  const auto chunk = std::make_shared<CachedChunk>(call.dataset, piece, std::move(raw));
  chunk->passing = true;
  cache().insert(chunk);
  cache().store_behind(chunk);
  ++statistics().encoded_behind;
}

// The same, encoded while the program waits.
class WriteJob final : public engine::Job {
 public:
  WriteJob(const Call& call, const Piece& piece, Source source)
      : call_(call), piece_(piece), source_(std::move(source)) {}

  void work() override {
    const Dataset& dataset = call_.dataset;
    raw_ = {source_.place.data, dataset.chunk_bytes};
    if (!lies_as_stored()) {
      copied_ = Buffer(dataset.chunk_bytes);
      if (!piece_.whole) engine::fill_all(dataset.fill, copied_.bytes());
      call_.copy(piece_, dataset.element, source_.place, call_.in_chunk(piece_, copied_.data()));
      raw_ = copied_.bytes();
    }
    encoded_ = engine::encode(dataset.pipeline, raw_);
  }

  void finish() override { store_chunk(call_.dataset, piece_.origin, encoded_, raw_); }

 private:
  [[nodiscard]] bool lies_as_stored() const {
    for (unsigned d = 0; d < call_.dataset.rank; ++d)
      if (piece_.box.count[d] != 1 && source_.place.strides[d] != call_.chunk_strides[d])
        return false;
    return piece_.whole;
  }

  const Call& call_;
  Piece piece_;
  Source source_;
  Buffer copied_;
  std::span<const std::byte> raw_;
  Buffer encoded_;
};

// A part of a chunk that is not in the cache.
class UpdateJob final : public engine::Job {
 public:
  UpdateJob(const Call& call, const Piece& piece, Source source, StoredChunk stored)
      : call_(call), piece_(piece), source_(std::move(source)), stored_(std::move(stored)) {}

  void work() override {
    const Dataset& dataset = call_.dataset;
    chunk_ = Buffer(dataset.chunk_bytes);
    if (stored_.bytes.size() == 0)
      engine::fill_all(dataset.fill, chunk_.bytes());
    else
      engine::decode(dataset.pipeline, stored_.mask, stored_.bytes.bytes(), chunk_.bytes());
    call_.copy(piece_, dataset.element, source_.place, call_.in_chunk(piece_, chunk_.data()));
  }

  void finish() override {
    const auto chunk = std::make_shared<CachedChunk>(call_.dataset, piece_, std::move(chunk_));
    cache().insert(chunk);
    cache().mark_dirty(chunk);
  }

 private:
  const Call& call_;
  Piece piece_;
  Source source_;
  StoredChunk stored_;
  Buffer chunk_;
};

// A part of a chunk, or all that the array has of it yet: rows may be appended.
void write_part(const Call& call, const Piece& piece, Source source, engine::Ordered& ordered) {
  Dataset& dataset = call.dataset;
  if (const ChunkRef chunk = cache().find_to_write(dataset, piece.chunk)) {
    ++statistics().cache_hits;
    call.copy(piece, dataset.element, source.place, call.in_chunk(piece, chunk->bytes.data()));
    cache().mark_dirty(chunk);
    return;
  }
  StoredChunk stored;
  if (!piece.covers || is_stored(dataset, piece.origin)) stored = load_chunk(dataset, piece.origin);
  require_all_filters(stored.mask);
  ordered.give(std::make_unique<UpdateJob>(call, piece, std::move(source), std::move(stored)));
}

}  // namespace

void write_pieces(const Call& call, const std::byte* program) {
  cache().store_encoded();
  engine::Ordered ordered(window_of(call.dataset));
  engine::Pieces pieces(call.grid, call.transfer.box);
  std::size_t left = engine::volume(call.dataset.rank, call.transfer.box.count);  // elements
  for (Piece piece; pieces.next(piece);) {
    Source source = source_of(call, piece, program);
    const bool alone = piece.box.count == call.transfer.box.count;
    // What a stored chunk has outside the array comes into it when that grows: HDF5 keeps it.
    const bool kept = !piece.whole && is_stored(call.dataset, piece.origin);
    if (!piece.covers || kept || (!piece.whole && alone && ChunkCache::fits(call.dataset))) {
      write_part(call, piece, std::move(source), ordered);
    } else {
      cache().drop(call.dataset, piece.chunk);
      require_all_filters(call.dataset, piece.origin);
      if (may_be_behind(call.dataset, left))
        write_behind(call, piece, source);
      else
        ordered.give(std::make_unique<WriteJob>(call, piece, std::move(source)));
    }
    left -= call.elements(piece);
  }
  ordered.finish();
}

}  // namespace headrace::async

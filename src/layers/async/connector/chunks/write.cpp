#include "engine/threads/ordered.hpp"
#include "layers/async/connector/chunks/cache.hpp"
#include "layers/async/connector/chunks/chunk_io.hpp"
#include "layers/async/connector/chunks/chunk_transfer.hpp"
#include "layers/async/connector/statistics.hpp"

namespace headrace::async {
namespace {

using engine::Buffer;
using engine::cache::DirtyRef;

// A part of what the program writes, in the file's type.
struct Given {
  Source place;
  Buffer converted;  // where it is, unless that is the program's memory
};

Given given_for(const ChunkTransfer& transfer, const Part& part, const std::byte* program) {
  Given given{};
  given.place = transfer.source_of(part, program, given.converted);
  return given;
}

// A chunk all of which is written.
Buffer raw_chunk(const ChunkTransfer& transfer, const Part& part, const Source& from) {
  Buffer raw(transfer.dataset().chunk_bytes);
  if (!part.whole) engine::fill_all(transfer.dataset().fill, raw.bytes());
  transfer.scatter(part, from, raw.data());
  return raw;
}

// Only the last part of a large write: what comes before would be waited for, and costs a copy.
bool may_be_behind(const Dataset& dataset, std::uint64_t elements_left) {
  return dataset.encodes_behind() && dataset.fits_cache() &&
         elements_left <= dataset.share->behind_limit() / dataset.element;
}

// Has a chunk that is written as a whole encoded after the program's call has returned.
void write_behind(const ChunkTransfer& transfer, const Part& part, const Given& given) {
  const DirtyRef chunk = cache().insert(transfer.dataset(), part.chunk, part.origin,
                                        raw_chunk(transfer, part, given.place));
  chunk->passing = true;
  cache().store_behind(chunk);
  ++statistics().encoded_behind;
}

// Encodes a chunk that is written as a whole while the program waits.
class WriteJob final : public engine::Job {
 public:
  WriteJob(const ChunkTransfer& transfer, const Part& part, Given given)
      : transfer_(transfer), part_(part), given_(std::move(given)) {}

  void work() override {
    const Dataset& dataset = transfer_.dataset();
    if (const std::byte* const as_it_is = transfer_.as_chunk(part_, given_.place)) {
      raw_ = {as_it_is, dataset.chunk_bytes};
    } else {
      copied_ = raw_chunk(transfer_, part_, given_.place);
      raw_ = copied_.bytes();
    }
    encoded_ = engine::encode(dataset.pipeline, raw_);
  }

  void finish() override { store_chunk(transfer_.dataset(), part_.origin, encoded_, raw_); }

 private:
  const ChunkTransfer& transfer_;
  Part part_;
  Given given_;
  Buffer copied_;
  std::span<const std::byte> raw_;
  Buffer encoded_;
};

// Puts a part into a chunk that is not in the cache.
class UpdateJob final : public engine::Job {
 public:
  UpdateJob(const ChunkTransfer& transfer, const Part& part, Given given, StoredChunk stored)
      : transfer_(transfer), part_(part), given_(std::move(given)), stored_(std::move(stored)) {}

  void work() override {
    const Dataset& dataset = transfer_.dataset();
    chunk_ = Buffer(dataset.chunk_bytes);
    vol::decode(dataset, stored_, chunk_.bytes());
    transfer_.scatter(part_, given_.place, chunk_.data());
  }

  void finish() override {
    cache().insert(transfer_.dataset(), part_.chunk, part_.origin, std::move(chunk_));
  }

 private:
  const ChunkTransfer& transfer_;
  Part part_;
  Given given_;
  StoredChunk stored_;
  Buffer chunk_;
};

// A part of a chunk, or all that the array has of it yet: rows may be appended.
void update(const ChunkTransfer& transfer, const Part& part, Given given,
            engine::Ordered& ordered) {
  Dataset& dataset = transfer.dataset();
  if (const DirtyRef chunk = cache().find_to_write(dataset, part.chunk, part.origin)) {
    ++statistics().cache_hits;
    transfer.scatter(part, given.place, chunk->bytes.data());
    return;
  }
  StoredChunk stored;
  if (!part.covers || is_stored(dataset, part.origin)) stored = load_chunk(dataset, part.origin);
  vol::require_all_filters(stored.mask);
  ordered.give(std::make_unique<UpdateJob>(transfer, part, std::move(given), std::move(stored)));
}

}  // namespace

void write_parts(const ChunkTransfer& transfer, const std::byte* program) {
  Dataset& dataset = transfer.dataset();
  store_encoded();
  engine::Ordered ordered(window_of(dataset));
  Parts parts(transfer);
  std::uint64_t left = transfer.transfer().elements;
  for (Part part; parts.next(part);) {
    Given given = given_for(transfer, part, program);
    const bool alone = part.elements == transfer.transfer().elements;
    // What a stored chunk has outside the array comes into it when that grows: HDF5 keeps it.
    const bool kept = !part.whole && is_stored(dataset, part.origin);
    if (!part.covers || kept || (!part.whole && alone && dataset.fits_cache())) {
      update(transfer, part, std::move(given), ordered);
    } else {
      cache().drop(dataset, part.chunk);
      require_all_filters(dataset, part.origin);
      if (may_be_behind(dataset, left))
        write_behind(transfer, part, given);
      else
        ordered.give(std::make_unique<WriteJob>(transfer, part, std::move(given)));
    }
    left -= part.elements;
  }
  ordered.finish();
}

}  // namespace headrace::async

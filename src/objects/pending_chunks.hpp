// The chunks of a dataset, with writes that are gathered in memory, and written all at once.
//
// One thread, but for Codec. What was written of a chunk in part is put over what is stored then,
// so that writers of different elements of a chunk lose nothing of each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/box.hpp"
#include "engine/buffer.hpp"
#include "objects/chunks/decoded_chunks.hpp"
#include "objects/chunks/pending_chunk.hpp"
#include "objects/format/header.hpp"
#include "objects/format/stored_chunk.hpp"
#include "store/store.hpp"

namespace headrace::objects {

// How chunks are stored. Throws Error.
class Codec {
 public:
  Codec() = default;
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;
  virtual ~Codec() = default;
  // What is stored of a chunk; empty: the chunk as it is. `left_out`, which is 0: a bit for each
  // filter that was not applied.
  virtual engine::Buffer encode(std::span<const std::byte> chunk,
                                std::uint32_t& left_out) const = 0;
  virtual void decode(std::uint32_t left_out, store::Bytes stored,
                      std::span<std::byte> chunk) const = 0;
  // Whether what is stored then is the chunk as it is.
  [[nodiscard]] virtual bool is_as_stored(std::uint32_t /*left_out*/) const { return false; }
  // Whether both may be called on the workers, at once; else by the thread of PendingChunks only.
  [[nodiscard]] virtual bool any_thread() const { return true; }
};

// Of a chunk, counted in chunks along each dimension.
using Coordinates = engine::Index;

struct ChunksOf {
  std::string prefix;  // of the keys of chunks
  unsigned rank = 0;
  Coordinates chunk{};          // its elements along each dimension
  std::size_t element = 0;      // bytes
  std::size_t chunk_bytes = 0;  // of a decoded chunk
  std::vector<std::byte> fill;  // an element where nothing was written
  std::uint64_t epoch = 0;
  std::vector<Cut> cuts;
};

// A chunk as it is stored.
struct RawChunk {
  std::uint32_t left_out = 0;  // a bit for each filter that was not applied
  engine::Buffer bytes;
};
struct StoredInfo {
  Coordinates at{};
  std::uint64_t size = 0;  // of its bytes
  std::uint32_t left_out = 0;
};

class PendingChunks {
 public:
  // `store` and `codec` outlive the object.
  PendingChunks(store::Store& store, const Codec& codec, ChunksOf dataset);
  PendingChunks(const PendingChunks&) = delete;
  PendingChunks& operator=(const PendingChunks&) = delete;
  ~PendingChunks() = default;

  // The chunk as it is now, into `chunk_bytes` of memory. Throws Error.
  void read(const Coordinates& at, std::span<std::byte> chunk) const;

  // Many of them, each lent to `deliver` on this thread, in order; it changes nothing here. They
  // are read, and decoded, on the workers where the codec allows it, and kept for the next time.
  using Deliver = std::function<void(std::size_t i, const std::byte* chunk)>;
  void read_all(std::span<const Coordinates> all, const Deliver& deliver);

  // All of a chunk, of `chunk_bytes`.
  void write(const Coordinates& at, engine::Buffer chunk);
  // A part.
  void write_part(const Coordinates& at, const PutElements& put, const Touched& touched);

  // The dataset has shrunk to `dims`: what is pending beyond them is forgotten, and what is stored
  // beyond them is as if it had not been written.
  void cut(std::uint64_t epoch, const std::vector<std::uint64_t>& dims, std::vector<Cut> cuts);

  // What is stored of a chunk; none where nothing was written, or all of it was cut off. What is
  // pending of it is stored before. Throws Error.
  std::optional<RawChunk> read_stored(const Coordinates& at);
  // Stores one at once, in place of what is pending of it. Throws Error.
  void write_stored(const Coordinates& at, std::uint32_t left_out, store::Bytes bytes);
  // All that read_stored() has within an extent, in the order of their coordinates. What is pending
  // is stored before. Throws Error.
  std::vector<StoredInfo> list(const std::vector<std::uint64_t>& dims);

  // Throws Error: what is not stored yet stays, and is tried again by the next flush.
  void flush();
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  using Chunks = std::map<std::string, PendingChunk>;
  struct Loaded {
    std::shared_ptr<engine::Buffer> buffer;
    std::size_t offset = 0;  // of the chunk in it
    store::Version version = store::kAbsent;
    std::uint64_t epoch = 0;
    [[nodiscard]] std::span<std::byte> chunk() const { return buffer->bytes().subspan(offset); }
  };
  // A blob, in two parts, and which one it is to replace.
  struct Blob {
    std::string head;
    engine::Buffer filtered;
    std::shared_ptr<engine::Buffer> merged;
    store::Bytes body;
    std::optional<store::Version> expected;
  };
  class Job;
  class Reading;

  [[nodiscard]] std::string key_of(const Coordinates& at) const;
  [[nodiscard]] Coordinates coordinates_in(const std::string& key) const;
  [[nodiscard]] std::size_t elements() const { return of_.chunk_bytes / of_.element; }
  [[nodiscard]] Coordinates left_of(const Coordinates& at, std::uint64_t epoch) const;
  [[nodiscard]] bool is_nothing(const Coordinates& left) const;
  // A chunk all of which is in memory; else null.
  [[nodiscard]] const std::byte* whole_pending(const std::string& key) const;
  // What is kept of a chunk, if that is what is stored; else null.
  [[nodiscard]] DecodedChunk decoded(const std::string& key);
  void decode(const StoredChunk& stored, const Coordinates& left, std::span<std::byte> chunk) const;
  [[nodiscard]] Loaded load(const std::string& key) const;
  [[nodiscard]] bool may_fill(const PendingChunk& pending) const;
  void encode(std::uint64_t epoch, std::span<const std::byte> chunk, Blob& blob) const;
  // `anew`: over what is stored now.
  [[nodiscard]] Blob blob_of(const std::string& key, const PendingChunk& pending, bool anew) const;
  void store_several(std::span<const Chunks::const_iterator> several) const;
  void store_one(const std::string& key, const PendingChunk& pending, bool anew) const;
  [[nodiscard]] std::optional<RawChunk> stored(const std::string& key) const;
  [[nodiscard]] std::optional<StoredInfo> info_of(const std::string& key,
                                                  const Coordinates& at) const;
  void forget(const std::string& key);

  store::Store& store_;
  const Codec& codec_;
  ChunksOf of_;
  Chunks pending_;
  std::size_t size_ = 0;
  ChunkScratch scratch_;
  DecodedChunks decoded_;
};

}  // namespace headrace::objects

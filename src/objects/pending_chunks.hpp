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
#include <span>
#include <string>
#include <vector>

#include "engine/box.hpp"
#include "engine/buffer.hpp"
#include "store/store.hpp"

namespace headrace::objects {

// How chunks are stored. Any thread. Throws Error.
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
};

struct ChunksOf {
  std::string prefix;  // of the keys of chunks
  unsigned rank = 0;
  std::size_t element = 0;      // bytes
  std::size_t chunk_bytes = 0;  // of a decoded chunk
  std::vector<std::byte> fill;  // an element where nothing was written
  std::uint64_t epoch = 0;
};

// Of a chunk, counted in chunks along each dimension.
using Coordinates = engine::Index;

class PendingChunks {
 public:
  // `store` and `codec` outlive the object.
  PendingChunks(store::Store& store, const Codec& codec, ChunksOf dataset);
  PendingChunks(const PendingChunks&) = delete;
  PendingChunks& operator=(const PendingChunks&) = delete;
  ~PendingChunks() = default;

  // The chunk as it is now, into `chunk_bytes` of memory. Throws Error.
  void read(const Coordinates& at, std::span<std::byte> chunk) const;

  // All of a chunk, of `chunk_bytes`.
  void write(const Coordinates& at, engine::Buffer chunk);
  // A part: `put` writes elements into the chunk, and sets a byte of `written`, unless that is
  // null, to 1 for each of them.
  using Put = std::function<void(std::byte* chunk, std::byte* written)>;
  void write_part(const Coordinates& at, const Put& put);

  // Throws Error: what is not stored yet stays, and is tried again by the next flush.
  void flush();
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Pending {
    engine::Buffer chunk;
    std::vector<std::byte> written;  // 1 for each element that was; empty: all of them were
  };
  using Chunks = std::map<std::string, Pending>;
  class Job;

  [[nodiscard]] std::string key_of(const Coordinates& at) const;
  [[nodiscard]] std::size_t elements() const { return of_.chunk_bytes / of_.element; }
  store::Version load(const std::string& key, std::span<std::byte> chunk) const;
  void overlay(const Pending& pending, std::span<std::byte> chunk) const;
  void store_one(const std::string& key, const Pending& pending) const;
  void forget(const std::string& key);

  store::Store& store_;
  const Codec& codec_;
  ChunksOf of_;
  Chunks pending_;
  std::size_t size_ = 0;
};

}  // namespace headrace::objects

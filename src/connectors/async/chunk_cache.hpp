// Decoded chunks of all datasets of the process, within a bound, the least recently used go first.
// The application's thread only.
#pragma once

#include <limits>
#include <list>
#include <map>
#include <vector>

#include "connectors/async/dataset.hpp"
#include "engine/buffer.hpp"
#include "engine/ordered.hpp"

namespace headrace::async {

struct CachedChunk {
  CachedChunk(Dataset& of, const engine::Piece& piece, engine::Buffer decoded)
      : dataset(&of), place(piece.chunk), origin(piece.origin), bytes(std::move(decoded)) {}

  Dataset* dataset;
  std::uint64_t place;  // among the dataset's chunks
  engine::Index origin;
  engine::Buffer bytes;
  bool dirty = false;    // not stored yet; the dataset's handle is open then
  bool storing = false;  // dirty, and a worker encodes it: its bytes must not change
  bool passing = false;  // of no use once it is stored
  std::list<std::shared_ptr<CachedChunk>>::iterator age;
};

using ChunkRef = std::shared_ptr<CachedChunk>;

class ChunkCache {
 public:
  void set_limit(std::size_t bytes) { limit_ = bytes; }
  [[nodiscard]] bool fits(const Dataset& dataset) const;
  // How many bytes of chunks may be encoded behind the program.
  [[nodiscard]] std::size_t behind_limit() const { return limit_ / 2; }

  // Null when it is not there.
  ChunkRef find(Dataset& dataset, std::uint64_t place);
  // The same for one whose bytes are about to change; waits while a worker encodes them.
  ChunkRef find_to_write(Dataset& dataset, std::uint64_t place);
  // Stores other dirty chunks where room must be made, as settle() does.
  void insert(const ChunkRef& chunk);
  void mark_dirty(const ChunkRef& chunk);
  // Has a chunk that is in the cache encoded by a worker while the program goes on; it is stored by
  // a later call of any function that stores.
  void store_behind(const ChunkRef& chunk);
  // Stores what has been encoded behind; waits for nothing.
  void store_encoded() noexcept;
  // What is dropped is not stored, unless a worker encodes it already.
  void drop(Dataset& dataset, std::uint64_t place);
  void drop(Dataset& dataset);

  // Bytes of dirty chunks that are stored through the connector, that is of its file.
  [[nodiscard]] std::size_t unstored_bytes(const vol::UnderConnector& connector) const;

  // For being stored, or closed.
  [[nodiscard]] bool nothing_waits() const;

  // Stores all dirty chunks, those that are encoded already first, else in the order of datasets
  // and chunks. Those that cannot be stored are dropped; the next flush or close of their file
  // tells of it. Closes the datasets that were closed behind.
  void settle() noexcept;

 private:
  using DirtyKey = std::pair<std::uint64_t, std::uint64_t>;  // the dataset's serial, place
  static DirtyKey key(const CachedChunk& chunk) { return {chunk.dataset->serial, chunk.place}; }
  static std::size_t cost(const CachedChunk& chunk);
  void make_room(std::size_t bytes);
  void store_oldest();
  void store_behind(const std::vector<ChunkRef>& chunks);
  void wait_for(const CachedChunk& chunk);
  void drop(const ChunkRef& chunk);
  void remove(const ChunkRef& chunk);
  void mark_clean(CachedChunk& chunk);
  void stored(const ChunkRef& chunk);
  void lose(const ChunkRef& chunk) noexcept;

  friend class StoreJob;

  std::size_t limit_ = 0;
  std::size_t used_ = 0;
  std::list<ChunkRef> by_age_;  // the most recently used first
  std::map<DirtyKey, ChunkRef> dirty_;
  std::size_t behind_ = 0;  // bytes of chunks in stores_
  engine::Ordered stores_{std::numeric_limits<std::size_t>::max()};
};

ChunkCache& cache();

}  // namespace headrace::async

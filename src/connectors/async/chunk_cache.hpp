// Decoded chunks of all datasets of the process, within a bound, the least recently used go first.
// The application's thread only.
#pragma once

#include <list>
#include <map>
#include <vector>

#include "connectors/async/dataset.hpp"
#include "engine/buffer.hpp"

namespace headrace::async {

struct CachedChunk {
  CachedChunk(Dataset& of, const engine::Piece& piece, engine::Buffer decoded)
      : dataset(&of), place(piece.chunk), origin(piece.origin), bytes(std::move(decoded)) {}

  Dataset* dataset;
  std::uint64_t place;  // among the dataset's chunks
  engine::Index origin;
  engine::Buffer bytes;
  bool dirty = false;  // not stored yet; the dataset's handle is open then
  std::list<std::shared_ptr<CachedChunk>>::iterator age;
};

using ChunkRef = std::shared_ptr<CachedChunk>;

class ChunkCache {
 public:
  void set_limit(std::size_t bytes) { limit_ = bytes; }
  [[nodiscard]] bool fits(const Dataset& dataset) const;

  // Null when it is not there.
  ChunkRef find(Dataset& dataset, std::uint64_t place);
  // Stores other dirty chunks where room must be made, as settle() does.
  void insert(const ChunkRef& chunk);
  void mark_dirty(const ChunkRef& chunk);
  // What is dropped is not stored.
  void drop(Dataset& dataset, std::uint64_t place);
  void drop(Dataset& dataset);

  [[nodiscard]] bool has_dirty() const { return !dirty_.empty(); }
  // Stores all dirty chunks, in the order of datasets and chunks. Those that cannot be stored are
  // dropped; the next flush or close of their file tells of it.
  void settle() noexcept;

 private:
  using DirtyKey = std::pair<std::uint64_t, std::uint64_t>;  // the dataset's serial, place
  static DirtyKey key(const CachedChunk& chunk) { return {chunk.dataset->serial, chunk.place}; }
  static std::size_t cost(const CachedChunk& chunk);
  void make_room(std::size_t bytes);
  void remove(const ChunkRef& chunk);
  void store(const std::vector<ChunkRef>& chunks);
  void stored(const ChunkRef& chunk);
  void lose(const ChunkRef& chunk) noexcept;

  friend class StoreJob;

  std::size_t limit_ = 0;
  std::size_t used_ = 0;
  std::list<ChunkRef> by_age_;  // the most recently used first
  std::map<DirtyKey, ChunkRef> dirty_;
};

ChunkCache& cache();

}  // namespace headrace::async

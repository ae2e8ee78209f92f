// Decoded chunks of all datasets of the process. Each file's stay within its bound, all of them
// within the largest bound of an open file; the least recently used go first. The application's
// thread only.
#pragma once

#include <limits>
#include <list>
#include <map>
#include <vector>

#include "connectors/async/dataset.hpp"
#include "engine/buffer.hpp"
#include "engine/ordered.hpp"
#include "vol/touched.hpp"

namespace headrace::async {

struct CachedChunk {
  CachedChunk(Dataset& of, const engine::Piece& piece, engine::Buffer decoded)
      : dataset(&of), place(piece.chunk), origin(piece.origin), bytes(std::move(decoded)) {}

  Dataset* dataset;
  std::uint64_t place;  // among the dataset's chunks
  engine::Index origin;
  engine::Buffer bytes;
  bool dirty = false;      // not stored yet; the dataset's handle is open then
  bool storing = false;    // dirty, and a worker encodes it: its bytes must not change
  bool passing = false;    // of no use once it is stored
  std::uint64_t used = 0;  // when it was last; see ChunkCache::use()
  std::list<std::shared_ptr<CachedChunk>>::iterator place_by_age;
};

using ChunkRef = std::shared_ptr<CachedChunk>;

// What a file has of the cache.
struct CacheShare {
  std::size_t limit;  // bytes
  std::size_t used = 0;
  std::list<ChunkRef> by_age;  // the most recently used first
};

class ChunkCache {
 public:
  // For a file that was opened, and its datasets.
  std::shared_ptr<CacheShare> make_share(std::size_t limit);
  [[nodiscard]] static bool fits(const Dataset& dataset);
  // How many bytes of chunks may be coded behind the program for a chunk of the dataset to be one.
  [[nodiscard]] static std::size_t behind_limit(const Dataset& dataset);

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
  // What is dropped of a chunk is not stored, unless a worker encodes it already.
  void drop(Dataset& dataset, std::uint64_t place);
  // Of a dataset dirty chunks are stored first.
  void drop(Dataset& dataset);

  // Bytes of dirty chunks that are stored through the connector, that is of its file.
  [[nodiscard]] std::size_t unstored_bytes(const vol::UnderConnector& connector) const;

  // For being stored, or closed.
  [[nodiscard]] bool nothing_waits() const;

  // Stores the dirty chunks that are touched, and those that are stored through that connector, in
  // the order of datasets and chunks. Those that cannot be stored are dropped; the next flush or
  // close of their file tells of it. Closes datasets that were closed behind and are stored now.
  void settle(const vol::Touched& touched = {},
              const vol::UnderConnector* through = nullptr) noexcept;

 private:
  using DirtyKey = std::pair<std::uint64_t, std::uint64_t>;  // the dataset's serial, place
  static DirtyKey key(const CachedChunk& chunk) { return {chunk.dataset->serial, chunk.place}; }
  static std::size_t cost(const CachedChunk& chunk);
  void set_limit();
  void use(const ChunkRef& chunk);
  CacheShare* share_to_cut(CacheShare& own, std::size_t bytes);
  void make_room(CacheShare& own, std::size_t bytes);
  void store_oldest(const CacheShare& share);
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
  std::uint64_t uses_ = 0;
  std::vector<CacheShare*> shares_;
  std::map<DirtyKey, ChunkRef> dirty_;
  std::size_t behind_ = 0;  // bytes of chunks in stores_
  engine::Ordered stores_{std::numeric_limits<std::size_t>::max()};
};

ChunkCache& cache();

}  // namespace headrace::async

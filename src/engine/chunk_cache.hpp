// Decoded chunks, by the dataset that owns them and their place among its chunks. The least
// recently used go first. Chunks that have changed are stored through their owner, encoded by
// workers.
//
// Each share of the cache stays within its limit, and all of them within the largest limit. One
// thread calls a cache and everything of it; only ChunkOwner::encode() runs on workers. Errors in
// storing are told to the owner.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/box.hpp"
#include "engine/buffer.hpp"
#include "engine/threads/ordered.hpp"

namespace headrace::engine {

class ChunkOwner;

struct CachedChunk {
  CachedChunk(ChunkOwner& of, std::uint64_t at, const Index& begin, Buffer decoded)
      : owner(&of), place(at), origin(begin), bytes(std::move(decoded)) {}

  ChunkOwner* owner;
  std::uint64_t place;  // among the owner's chunks
  Index origin;         // of the chunk in the array
  Buffer bytes;
  bool dirty = false;      // has changed since it was stored
  bool storing = false;    // dirty, and a worker encodes it: its bytes must not change
  bool passing = false;    // of no use once it is stored
  std::uint64_t used = 0;  // when it was last, counted in uses of the cache
  std::list<std::shared_ptr<CachedChunk>>::iterator place_by_age;
};

using ChunkRef = std::shared_ptr<CachedChunk>;

// What several owners, as the datasets of a file, have of a cache together.
struct CacheShare {
  std::size_t limit;  // bytes
  std::size_t used = 0;
  std::list<ChunkRef> by_age;  // the most recently used first

  // How many bytes of chunks may be encoded behind the program.
  [[nodiscard]] std::size_t behind_limit() const { return limit / 2; }
};

// Whose chunks are cached: a dataset. It outlives its chunks in the cache.
class ChunkOwner {
 public:
  ChunkOwner() = default;
  ChunkOwner(const ChunkOwner&) = delete;
  ChunkOwner& operator=(const ChunkOwner&) = delete;
  virtual ~ChunkOwner() = default;

  // What is to be stored of a chunk. On any thread. Throws.
  [[nodiscard]] virtual Buffer encode(const CachedChunk& chunk) const = 0;
  // Stores what encode() has made. Returns whether the cache may keep the chunk. Throws.
  virtual bool store(const CachedChunk& chunk, const Buffer& encoded) = 0;
  // The chunk is dropped, as it could not be stored.
  virtual void lose(const std::exception_ptr& error) noexcept = 0;
  // Whether encode() may run while the program goes on.
  [[nodiscard]] virtual bool encodes_behind() const = 0;

  // How many of its chunks are not stored yet.
  [[nodiscard]] std::size_t unstored() const { return unstored_; }
  // How many of its chunks are in the cache.
  [[nodiscard]] std::size_t cached() const { return cached_.size(); }

  std::uint64_t serial = 0;  // no other owner has it; chunks are stored in the order of these
  std::shared_ptr<CacheShare> share;

 private:
  friend class ChunkCache;
  std::unordered_map<std::uint64_t, ChunkRef> cached_;  // by place
  std::size_t unstored_ = 0;
};

class ChunkCache {
 public:
  // `limit`: bytes.
  std::shared_ptr<CacheShare> make_share(std::size_t limit);

  // Null when it is not there.
  ChunkRef find(ChunkOwner& owner, std::uint64_t place);
  // As find(), for a chunk whose bytes are about to change; waits while a worker encodes them.
  ChunkRef find_to_write(ChunkOwner& owner, std::uint64_t place);
  // Stores other dirty chunks where room must be made.
  void insert(const ChunkRef& chunk);
  void mark_dirty(const ChunkRef& chunk);
  // Has a worker encode a chunk that is in the cache while the program goes on; a later call of any
  // function that stores stores it.
  void store_behind(const ChunkRef& chunk);
  // Stores what has been encoded behind; waits for nothing.
  void store_encoded();
  // A chunk that is dropped is not stored, unless a worker encodes it already.
  void drop(ChunkOwner& owner, std::uint64_t place);
  // Drops all chunks of an owner, after storing those that are dirty.
  void drop(ChunkOwner& owner);

  // Stores the dirty chunks of the owners that `of` is true for, in the order of owners and places.
  using OwnerTest = std::function<bool(const ChunkOwner&)>;
  void store(const OwnerTest& of) noexcept;

  // Bytes of dirty chunks of the owners that `of` is true for.
  [[nodiscard]] std::size_t unstored_bytes(const OwnerTest& of) const;
  [[nodiscard]] bool all_stored() const { return dirty_.empty(); }

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;  // the owner's serial, place
  static Key key(const CachedChunk& chunk) { return {chunk.owner->serial, chunk.place}; }
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
  std::map<Key, ChunkRef> dirty_;
  std::size_t behind_ = 0;  // bytes of chunks in stores_
  Ordered stores_{std::numeric_limits<std::size_t>::max()};
};

}  // namespace headrace::engine

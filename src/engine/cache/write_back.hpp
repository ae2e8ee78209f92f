// Chunks that have changed and are not stored yet, over a store of those that are. They are stored
// through their owner, encoded by workers, in the order of their keys; then the store has them.
//
// What is used least recently goes first, of both: stored chunks and dirty ones have a room
// together. One thread calls everything of it; only Owner::encode() runs on workers. Errors in
// storing are told to the owner.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/box.hpp"
#include "engine/buffer.hpp"
#include "engine/cache/by_age.hpp"
#include "engine/cache/room.hpp"
#include "engine/cache/store.hpp"
#include "engine/threads/ordered.hpp"

namespace headrace::engine::cache {

class Owner;

struct DirtyChunk {
  DirtyChunk(Owner& of, const Key& at, const Index& begin, Buffer decoded)
      : owner(&of), key(at), origin(begin), bytes(std::move(decoded)) {}

  Owner* owner;
  Key key;
  Index origin;  // of the chunk in the array
  Buffer bytes;
  bool waits = true;      // to be stored; else it is no longer in the cache
  bool encoding = false;  // a worker encodes it: its bytes must not change
  bool passing = false;   // of no use once it is stored
  std::uint64_t used = 0;
  ByAge<std::shared_ptr<DirtyChunk>>::Place place;
};
using DirtyRef = std::shared_ptr<DirtyChunk>;
inline std::uint64_t& when_used(const DirtyRef& chunk) { return chunk->used; }

// Whose chunks are cached: a dataset. It outlives its dirty chunks.
class Owner {
 public:
  Owner() = default;
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  virtual ~Owner() = default;

  // What is to be stored of a chunk. On any thread. Throws.
  [[nodiscard]] virtual Buffer encode(const DirtyChunk& chunk) const = 0;
  // Stores what encode() has made. Returns whether the chunk may be cached. Throws.
  virtual bool store(const DirtyChunk& chunk, const Buffer& encoded) = 0;
  // The chunk is dropped, as it could not be stored.
  virtual void lose(const std::exception_ptr& error) noexcept = 0;
  // Whether encode() may run while the program goes on.
  [[nodiscard]] virtual bool encodes_behind() const = 0;

  // How many of its chunks are not stored yet.
  [[nodiscard]] std::size_t unstored() const { return unstored_; }

  DatasetKey cached_as;
  std::shared_ptr<const Share> share;  // of the same file

 private:
  friend class WriteBack;
  std::size_t unstored_ = 0;
};

// `chunk`, where it is a number: its place among the owner's chunks.
class WriteBack {
 public:
  // Both outlive it. The store's chunks of this process take room of the same.
  WriteBack(Store& store, Room& room) : store_(store), room_(room) {}

  // Shows the visitor the chunk, dirty or stored; false as Store::read().
  bool read(Owner& owner, std::uint64_t chunk, Visitor visitor);
  // A cached chunk whose bytes are about to change: dirty from now on. Waits while a worker encodes
  // it. Null where it is not cached.
  DirtyRef find_to_write(Owner& owner, std::uint64_t chunk, const Index& origin);
  // One that is not cached, and to be stored. Stores other chunks where room must be made.
  DirtyRef insert(Owner& owner, std::uint64_t chunk, const Index& origin, Buffer bytes);
  // Caches one that is stored as it is, if there is room; of one that is dirty it does nothing.
  void keep(Owner& owner, std::uint64_t chunk, Buffer bytes);

  // Has a worker encode the chunk while the program goes on; a later call of any function that
  // stores stores it.
  void store_behind(const DirtyRef& chunk);
  // Stores what has been encoded behind; waits for nothing.
  void store_encoded() { encoding_.finish_done(); }
  // A chunk that is dropped is not stored, unless a worker encodes it already.
  void drop(Owner& owner, std::uint64_t chunk);
  // Drops all chunks of an owner, after storing those that are dirty.
  void drop(Owner& owner);

  // Stores the chunks of the owners that `of` is true for.
  using OwnerTest = std::function<bool(const Owner&)>;
  void store(const OwnerTest& of) noexcept;

  // How many of an owner's chunks are cached.
  [[nodiscard]] std::size_t cached(const Owner& owner) const {
    return owner.unstored() + store_.count(owner.cached_as);
  }
  // Bytes of dirty chunks of the owners that `of` is true for.
  [[nodiscard]] std::size_t unstored_bytes(const OwnerTest& of) const;
  [[nodiscard]] bool all_stored() const { return dirty_.empty(); }

 private:
  friend class StoreJob;
  DirtyRef find(const Owner& owner, const Key& key);
  bool make_room(const io::FileIdentity& file, std::size_t bytes);
  void store_oldest(const DirtyRef& oldest);
  void store_behind(const std::vector<DirtyRef>& chunks);
  void wait_for(const DirtyChunk& chunk);
  void remove(const DirtyRef& chunk);
  void stored(const DirtyRef& chunk) noexcept;
  void lose(const DirtyRef& chunk) noexcept;

  Store& store_;
  Room& room_;
  std::unordered_map<Key, DirtyRef, Hash> dirty_;
  ByAge<DirtyRef> ages_;    // of the same
  std::size_t behind_ = 0;  // bytes of chunks in encoding_
  Ordered encoding_{std::numeric_limits<std::size_t>::max()};
};

}  // namespace headrace::engine::cache

// Decoded chunks by key, for all threads that have the store, or all processes of a node.
//
// A store knows nothing of dirty chunks: what is in it is what is stored in the file, and it may
// drop any of it at any time. Nothing in it is pinned, so a process that is killed leaves nothing
// behind that others would wait for: who reads may see a chunk go, and who fills one may go.
//
// All functions may be called from any thread, several at a time; one claim by one at a time.
// A store outlives its claims. They throw std::bad_alloc, and what visitors throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "engine/buffer.hpp"
#include "engine/cache/key.hpp"

namespace headrace::engine::cache {

class Store;

// Is shown a chunk's bytes, which are there until it returns. It keeps no part of what it was made
// from.
class Visitor {
 public:
  template <typename Function>
    requires(!std::is_same_v<std::remove_cvref_t<Function>, Visitor>)
  Visitor(const Function& function)  // NOLINT(google-explicit-constructor): as a function is given
      : function_(&function), call_([](const void* self, std::span<const std::byte> bytes) {
          (*static_cast<const Function*>(self))(bytes);
        }) {}
  void operator()(std::span<const std::byte> bytes) const { call_(function_, bytes); }

 private:
  const void* function_;
  void (*call_)(const void*, std::span<const std::byte>);
};

// The right to fill a chunk, of whoever claimed it first. Nobody sees the bytes before publish().
// A claim that goes without it has not been; so has that of a process that dies.
class Claim {
 public:
  Claim() = default;  // of nothing
  Claim(Store& store, const Key& key, std::span<std::byte> bytes)
      : store_(&store), key_(key), bytes_(bytes) {}
  Claim(Claim&& other) noexcept
      : store_(std::exchange(other.store_, nullptr)), key_(other.key_), bytes_(other.bytes_) {}
  Claim& operator=(Claim&& other) noexcept {
    std::swap(store_, other.store_);
    std::swap(key_, other.key_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  ~Claim() { abandon(); }

  explicit operator bool() const { return store_ != nullptr; }
  // What to fill, all of it: not initialised.
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  // Both end the claim.
  void publish();
  void abandon() noexcept;

 private:
  Store* store_ = nullptr;
  Key key_;
  std::span<std::byte> bytes_;
};

class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  // Shows the visitor the chunk. Only if the result is true were the bytes those of the chunk, to
  // the end of the visit; else they went meanwhile, or the store does not have them and the visitor
  // may not have been called.
  virtual bool read(const Key& key, Visitor visitor) = 0;

  // To fill a chunk of so many bytes; a claim of nothing where the store has the chunk, somebody
  // else fills it, or there is no room.
  Claim claim(const Key& key, std::size_t bytes) {
    const std::span<std::byte> room = begin(key, bytes);
    return room.empty() ? Claim() : Claim(*this, key, room);
  }

  // What is cached, and what is claimed but not published yet, is not found from now on.
  virtual void forget(const Key& key) = 0;
  virtual void forget(const DatasetKey& dataset) = 0;
  virtual void forget(const io::FileIdentity& file) = 0;

  // How many chunks of a dataset it has.
  [[nodiscard]] virtual std::size_t count(const DatasetKey& dataset) const = 0;

  // Claims, fills and publishes in one, in place of what the store had; false where there is no
  // room. A store that keeps its chunks in this process takes the buffer away, and leaves an empty
  // one. `used`: when the chunk was last, see Room.
  virtual bool put(const Key& key, Buffer& chunk, std::uint64_t used);
  // What read() shows, which the store does not have from then on: nothing is copied where the
  // chunk is this process's alone. Empty where it does not have it.
  virtual Buffer take(const Key& key);

  // Makes room in this process: drops the chunk that has not been used for longest, of a file or
  // (null) of all, if it was used last before that. False when no chunk of the store's takes room.
  virtual bool evict(const io::FileIdentity* /*of*/, std::uint64_t /*before*/) { return false; }

 private:
  friend class Claim;
  // Empty for no claim.
  virtual std::span<std::byte> begin(const Key& key, std::size_t bytes) = 0;
  virtual void publish(const Key& key) = 0;
  virtual void abandon(const Key& key) noexcept = 0;
};

inline void Claim::publish() { std::exchange(store_, nullptr)->publish(key_); }
inline void Claim::abandon() noexcept {
  if (store_ != nullptr) std::exchange(store_, nullptr)->abandon(key_);
}

}  // namespace headrace::engine::cache

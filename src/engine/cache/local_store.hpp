// The decoded chunks of one process. The least recently used go first.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "engine/cache/by_age.hpp"
#include "engine/cache/room.hpp"
#include "engine/cache/store.hpp"

namespace headrace::engine::cache {

// A visitor may use the store.
class LocalStore final : public Store {
 public:
  // The room outlives the store.
  explicit LocalStore(Room& room) : room_(room) {}
  LocalStore(const LocalStore&) = delete;
  LocalStore& operator=(const LocalStore&) = delete;
  ~LocalStore() override;

  bool read(const Key& key, Visitor visitor) override;
  void forget(const Key& key) override;
  void forget(const DatasetKey& dataset) override;
  void forget(const io::FileIdentity& file) override;
  [[nodiscard]] std::size_t count(const DatasetKey& dataset) const override;
  bool put(const Key& key, Buffer& chunk, std::uint64_t used) override;
  Buffer take(const Key& key) override;
  bool evict(const io::FileIdentity* of, std::uint64_t before) override;

 private:
  // Stays as long as it is visited, in the store or not.
  struct Held {
    explicit Held(Buffer chunk) : bytes(std::move(chunk)) {}
    Buffer bytes;
    std::atomic<unsigned> visits{0};
  };
  struct Entry {
    Key key;
    std::shared_ptr<Held> held;
    std::uint64_t used;
    friend std::uint64_t& when_used(Entry& entry) { return entry.used; }
  };
  struct Filling {
    Buffer bytes;
    bool forgotten = false;
  };
  using Place = ByAge<Entry>::Place;
  using Chunks = std::unordered_map<std::uint64_t, Place>;
  using Datasets = std::unordered_map<DatasetKey, Chunks, Hash>;
  class Visit;

  std::span<std::byte> begin(const Key& key, std::size_t bytes) override;
  void publish(const Key& key) override;
  void abandon(const Key& key) noexcept override;

  // With the lock held, all of them.
  [[nodiscard]] const Place* find(const Key& key) const;
  bool make_room(const io::FileIdentity& file, std::size_t bytes);
  bool drop_oldest(const io::FileIdentity* of, std::uint64_t before);
  void add(const Key& key, Buffer chunk, std::uint64_t used);
  std::shared_ptr<Held> remove(const Key& key);
  void remove_all(Datasets::iterator dataset);

  Room& room_;
  mutable std::mutex mutex_;
  Datasets datasets_;
  mutable const Datasets::value_type* last_ = nullptr;  // that was looked at
  ByAge<Entry> ages_;
  std::unordered_map<Key, Filling, Hash> filling_;
};

}  // namespace headrace::engine::cache

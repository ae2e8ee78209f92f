// A store that refuses its work from some commit on, or lets others work before one.
#pragma once

#include <algorithm>
#include <functional>
#include <mutex>
#include <utility>

#include "base/error.hpp"
#include "store/store.hpp"

namespace headrace::store {

class HinderedStore final : public Store {
 public:
  explicit HinderedStore(Store& store) : store_(store) {}
  // How many more commits and puts are made.
  unsigned left = ~0U;
  // Changes of one of them, at most.
  std::size_t largest = 0;
  // Done before the next of them.
  std::function<void()> meanwhile = nullptr;

  Commit commit(std::string_view table, std::span<const Change> changes) override {
    work(changes.size());
    return store_.commit(table, changes);
  }
  std::optional<Entry> find(std::string_view table, std::string_view key) override {
    return store_.find(table, key);
  }
  std::vector<Entry> scan(std::string_view table, std::string_view from,
                          std::size_t most) override {
    return store_.scan(table, from, most);
  }
  std::vector<std::string> tables(std::string_view prefix, std::string_view behind,
                                  std::size_t most) override {
    return store_.tables(prefix, behind, most);
  }
  std::vector<Version> put(std::span<const Change> blobs) override {
    work(blobs.size());
    return store_.put(blobs);
  }
  std::optional<BlobInfo> get(std::string_view key, std::uint64_t offset,
                              std::span<std::byte> room) override {
    return store_.get(key, offset, room);
  }
  std::vector<ListedBlob> list(std::string_view from, std::size_t most) override {
    return store_.list(from, most);
  }
  std::shared_ptr<const void> keep(std::string_view name, Keeping how) override {
    return store_.keep(name, how);
  }
  LeftOver collect(Collect how) override { return store_.collect(how); }

 private:
  // Of workers, too, that put chunks.
  void work(std::size_t changes) {
    std::function<void()> once;
    {
      const std::scoped_lock lock(mutex_);
      largest = std::max(largest, changes);
      if (left == 0) throw Error("the store is full", ErrorKind::no_space);
      --left;
      once = std::exchange(meanwhile, nullptr);
    }
    if (once) once();
  }
  std::mutex mutex_;
  Store& store_;
};

}  // namespace headrace::store

// Decoded chunks that were read last, as the store had them. One thread.
#pragma once

#include <algorithm>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "engine/buffer.hpp"
#include "store/store.hpp"

namespace headrace::objects {

class DecodedChunks {
 public:
  // As many bytes as HDF5 2.x keeps of a dataset.
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20U;
  using Chunk = std::shared_ptr<const engine::Buffer>;

  [[nodiscard]] bool has(const std::string& key) const { return place_of(key) != chunks_.end(); }
  // Null where that is not what is kept of the chunk.
  Chunk find(const std::string& key, store::Version version) {
    const auto found = place_of(key);
    if (found == chunks_.end() || found->version != version) return nullptr;
    chunks_.splice(chunks_.begin(), chunks_, found);
    return found->chunk;
  }
  void keep(const std::string& key, store::Version version, Chunk chunk) {
    if (chunk->size() > kMostBytes) return;
    if (const auto old = place_of(key); old != chunks_.end()) drop(old);
    bytes_ += chunk->size();
    chunks_.push_front({key, version, std::move(chunk)});
    while (bytes_ > kMostBytes) drop(std::prev(chunks_.end()));
  }
  void clear() {
    chunks_.clear();
    bytes_ = 0;
  }

 private:
  struct Kept {
    std::string key;
    store::Version version;
    Chunk chunk;
  };
  using List = std::list<Kept>;

  [[nodiscard]] List::const_iterator place_of(const std::string& key) const {
    return std::ranges::find(chunks_, key, &Kept::key);
  }
  void drop(List::const_iterator place) {
    bytes_ -= place->chunk->size();
    chunks_.erase(place);
  }

  List chunks_;  // the last one that was used first
  std::size_t bytes_ = 0;
};

}  // namespace headrace::objects

#include "objects/chunks/decoded_chunks.hpp"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/process/anew_in_child.hpp"

namespace headrace::objects {

namespace {

constexpr std::size_t kLeast = std::size_t{8} << 20U;  // what HDF5 2.x keeps of one dataset

}  // namespace

// Keys of chunks that were dropped last.
class DecodedChunks::Dropped {
 public:
  void note(const std::string& key, std::size_t bytes) {
    if (!places_.contains(key)) {
      places_[key] = keys_.insert(keys_.end(), {key, bytes});
      bytes_ += bytes;
    }
    while (bytes_ > DecodedChunks::most_bytes()) forget(places_.find(keys_.front().first));
  }
  // Whether it was one of them, which it is no more.
  bool take(const std::string& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return false;
    forget(found);
    return true;
  }

 private:
  using List = std::list<std::pair<std::string, std::size_t>>;
  using Places = std::map<std::string, List::iterator, std::less<>>;
  void forget(Places::iterator place) {
    bytes_ -= place->second->second;
    keys_.erase(place->second);
    places_.erase(place);
  }
  List keys_;
  Places places_;
  std::size_t bytes_ = 0;
};

// Other threads may have files of their own. As memory that is new costs more than a copy, it
// grows only where chunks are read again that it had no room for, not by what is read once.
struct DecodedChunks::All {
  std::mutex mutex;
  List chunks;               // the last one that was used first
  std::list<Places> places;  // of each object
  std::size_t bytes = 0;
  std::size_t most = kLeast;  // of them now
  Dropped dropped;
};

// What the object has in its parent's is left as it is.
DecodedChunks::All& DecodedChunks::own() {
  All& now = AnewInChild<All>::get();
  if (of_ != &now) {
    const std::scoped_lock lock(now.mutex);
    places_ = now.places.emplace(now.places.end());
    of_ = &now;
  }
  return now;
}

DecodedChunks::~DecodedChunks() {
  if (of_ != &AnewInChild<All>::get()) return;
  clear();
  const std::scoped_lock lock(of_->mutex);
  of_->places.erase(places_);
}

std::size_t DecodedChunks::most_bytes() {
  constexpr std::size_t kMost = std::size_t{128} << 20U;
  constexpr std::size_t kShare = 64;  // of the machine's memory
  static const std::size_t most =
      std::clamp(static_cast<std::size_t>(std::max(::sysconf(_SC_PHYS_PAGES), 0L)) *
                     static_cast<std::size_t>(std::max(::sysconf(_SC_PAGESIZE), 0L)) / kShare,
                 kLeast, kMost);
  return most;
}

bool DecodedChunks::has(const std::string& key) {
  const std::scoped_lock lock(own().mutex);
  return places_->contains(key);
}

DecodedChunk DecodedChunks::find(const std::string& key, store::Version version) {
  All& every = own();
  const std::scoped_lock lock(every.mutex);
  const auto found = places_->find(key);
  if (found == places_->end() || found->second->chunk.version != version) return {};
  every.chunks.splice(every.chunks.begin(), every.chunks, found->second);
  return found->second->chunk;
}

void DecodedChunks::keep(const std::string& key, DecodedChunk chunk) {
  All& every = own();
  const std::scoped_lock lock(every.mutex);
  if (const auto old = places_->find(key); old != places_->end()) drop(every, old->second);
  const std::size_t size = chunk.buffer->size();
  if (every.dropped.take(key)) every.most = std::min(every.most + 2 * size, most_bytes());
  if (size > every.most) return every.dropped.note(key, size);
  every.bytes += size;
  every.chunks.push_front({this, key, std::move(chunk)});
  (*places_)[key] = every.chunks.begin();
  while (every.bytes > every.most) {
    const auto oldest = std::prev(every.chunks.end());
    every.dropped.note(oldest->key, oldest->chunk.buffer->size());
    drop(every, oldest);
  }
}

void DecodedChunks::clear() {
  All& every = own();
  const std::scoped_lock lock(every.mutex);
  while (!places_->empty()) drop(every, places_->begin()->second);
}

void DecodedChunks::drop(All& all, List::iterator place) {
  all.bytes -= place->chunk.buffer->size();
  place->of->places_->erase(place->key);
  all.chunks.erase(place);
}

}  // namespace headrace::objects

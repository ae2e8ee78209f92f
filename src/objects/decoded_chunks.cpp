#include "objects/decoded_chunks.hpp"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <utility>

namespace headrace::objects {

// Other threads may have files of their own.
struct DecodedChunks::All {
  std::mutex mutex;
  List chunks;  // the last one that was used first
  std::size_t bytes = 0;
};

// Leaked: datasets are closed while the process exits.
DecodedChunks::All& DecodedChunks::all() {
  static auto& all = *new All();
  return all;
}

std::size_t DecodedChunks::most_bytes() {
  constexpr std::size_t kLeast = std::size_t{8} << 20U;  // what HDF5 2.x keeps of one dataset
  constexpr std::size_t kMost = std::size_t{128} << 20U;
  constexpr std::size_t kShare = 64;  // of the machine's memory
  static const std::size_t most =
      std::clamp(static_cast<std::size_t>(std::max(::sysconf(_SC_PHYS_PAGES), 0L)) *
                     static_cast<std::size_t>(std::max(::sysconf(_SC_PAGESIZE), 0L)) / kShare,
                 kLeast, kMost);
  return most;
}

bool DecodedChunks::has(const std::string& key) const {
  const std::scoped_lock lock(all().mutex);
  return places_.contains(key);
}

DecodedChunk DecodedChunks::find(const std::string& key, store::Version version) {
  All& every = all();
  const std::scoped_lock lock(every.mutex);
  const auto found = places_.find(key);
  if (found == places_.end() || found->second->version != version) return {};
  every.chunks.splice(every.chunks.begin(), every.chunks, found->second);
  return found->second->chunk;
}

void DecodedChunks::keep(const std::string& key, store::Version version, DecodedChunk chunk) {
  All& every = all();
  const std::scoped_lock lock(every.mutex);
  if (const auto old = places_.find(key); old != places_.end()) drop(every, old->second);
  if (chunk.buffer->size() > most_bytes()) return;
  every.bytes += chunk.buffer->size();
  every.chunks.push_front({this, key, version, std::move(chunk)});
  places_[key] = every.chunks.begin();
  while (every.bytes > most_bytes()) drop(every, std::prev(every.chunks.end()));
}

void DecodedChunks::clear() {
  All& every = all();
  const std::scoped_lock lock(every.mutex);
  while (!places_.empty()) drop(every, places_.begin()->second);
}

void DecodedChunks::drop(All& all, List::iterator place) {
  all.bytes -= place->chunk.buffer->size();
  place->of->places_.erase(place->key);
  all.chunks.erase(place);
}

}  // namespace headrace::objects

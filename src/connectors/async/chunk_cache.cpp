#include "connectors/async/chunk_cache.hpp"

#include <cstdlib>

#include "connectors/async/chunk_io.hpp"
#include "engine/ordered.hpp"
#include "engine/thread_pool.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::async {

class StoreJob final : public engine::Job {
 public:
  StoreJob(ChunkCache& cache, ChunkRef chunk) : cache_(cache), chunk_(std::move(chunk)) {}

  void work() override {
    try {
      encoded_ = engine::encode(chunk_->dataset->pipeline, chunk_->bytes.bytes());
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  // One chunk's failure is no reason to lose the others.
  void finish() override {
    try {
      if (error_ != nullptr) std::rethrow_exception(error_);
      store_chunk(*chunk_->dataset, chunk_->origin, encoded_.bytes());
    } catch (...) {
      cache_.lose(chunk_);
      return;
    }
    cache_.stored(chunk_);
  }

 private:
  ChunkCache& cache_;
  ChunkRef chunk_;
  engine::Buffer encoded_;
  std::exception_ptr error_;
};

bool ChunkCache::fits(const Dataset& dataset) const {
  return dataset.chunk_bytes <= limit_ && dataset.native_cache <= limit_;
}

std::size_t ChunkCache::cost(const CachedChunk& chunk) {
  constexpr std::size_t kBookkeeping = 512;
  return chunk.bytes.size() + kBookkeeping;
}

ChunkRef ChunkCache::find(Dataset& dataset, std::uint64_t place) {
  const auto found = dataset.cached.find(place);
  if (found == dataset.cached.end()) return nullptr;
  by_age_.splice(by_age_.begin(), by_age_, found->second->age);
  return found->second;
}

void ChunkCache::insert(const ChunkRef& chunk) {
  make_room(cost(*chunk));
  by_age_.push_front(chunk);
  chunk->age = by_age_.begin();
  chunk->dataset->cached.insert_or_assign(chunk->place, chunk);
  used_ += cost(*chunk);
}

void ChunkCache::mark_dirty(const ChunkRef& chunk) {
  if (chunk->dirty) return;
  // Registered after HDF5's, so called before it: HDF5 that ends can store no dataset's first
  // chunk.
  static const bool at_exit = std::atexit([] {
                                if (!cache().has_dirty()) return;
                                const LibraryContext context;
                                cache().settle();
                              }) == 0;
  static_cast<void>(at_exit);
  dirty_.emplace(key(*chunk), chunk);
  chunk->dirty = true;
}

void ChunkCache::remove(const ChunkRef& chunk) {
  dirty_.erase(key(*chunk));
  used_ -= cost(*chunk);
  by_age_.erase(chunk->age);
  chunk->dataset->cached.erase(chunk->place);
}

void ChunkCache::drop(Dataset& dataset, std::uint64_t place) {
  const auto found = dataset.cached.find(place);
  if (found != dataset.cached.end()) remove(ChunkRef(found->second));
}

void ChunkCache::drop(Dataset& dataset) {
  while (!dataset.cached.empty()) remove(ChunkRef(dataset.cached.begin()->second));
}

void ChunkCache::make_room(std::size_t bytes) {
  while (!by_age_.empty() && used_ + bytes > limit_) {
    const ChunkRef oldest = by_age_.back();
    if (oldest->dirty) {
      // Several at once, so that all threads have work.
      std::vector<ChunkRef> chunks;
      const std::size_t most = 4 * std::size_t{engine::workers()};
      for (auto at = by_age_.rbegin(); at != by_age_.rend() && chunks.size() < most; ++at)
        if ((*at)->dirty) chunks.push_back(*at);
      store(chunks);
    }
    // It is gone already when it could not be stored.
    if (!by_age_.empty() && by_age_.back() == oldest) remove(oldest);
  }
}

void ChunkCache::stored(const ChunkRef& chunk) {
  chunk->dirty = false;
  dirty_.erase(key(*chunk));
}

void ChunkCache::lose(const ChunkRef& chunk) noexcept {
  chunk->dataset->handle->connector->defer(std::current_exception());
  remove(chunk);
}

void ChunkCache::store(const std::vector<ChunkRef>& chunks) {
  if (chunks.empty()) return;
  engine::Ordered ordered(window_of(*chunks.front()->dataset));
  for (const ChunkRef& chunk : chunks) ordered.give(std::make_unique<StoreJob>(*this, chunk));
  ordered.finish();
}

void ChunkCache::settle() noexcept {
  if (dirty_.empty()) return;
  const Aside aside;
  try {
    std::vector<ChunkRef> chunks;
    chunks.reserve(dirty_.size());
    for (const auto& [key, chunk] : dirty_) chunks.push_back(chunk);
    store(chunks);
  } catch (...) {  // out of memory: nothing dirty may stay, its handle may be about to close
    while (!dirty_.empty()) lose(ChunkRef(dirty_.begin()->second));
  }
}

ChunkCache& cache() {
  static auto& cache = *new ChunkCache;
  return cache;
}

}  // namespace headrace::async

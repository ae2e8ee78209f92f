#include "connectors/async/chunk_cache.hpp"

#include <cstdlib>

#include "connectors/async/chunk_io.hpp"
#include "connectors/async/closings.hpp"
#include "engine/ordered.hpp"
#include "engine/thread_pool.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::async {

class StoreJob final : public engine::Job {
 public:
  StoreJob(ChunkCache& cache, ChunkRef chunk) : cache_(cache), chunk_(std::move(chunk)) {
    chunk_->storing = true;
    cache_.behind_ += chunk_->bytes.size();
  }
  StoreJob(const StoreJob&) = delete;
  StoreJob& operator=(const StoreJob&) = delete;
  ~StoreJob() override {
    chunk_->storing = false;
    cache_.behind_ -= chunk_->bytes.size();
  }

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
      if (encoded_.size() == 0) chunk_->passing = true;  // HDF5's from now on
      store_chunk(*chunk_->dataset, chunk_->origin, encoded_, chunk_->bytes.bytes());
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

ChunkRef ChunkCache::find_to_write(Dataset& dataset, std::uint64_t place) {
  const ChunkRef chunk = find(dataset, place);
  if (chunk == nullptr) return nullptr;
  chunk->passing = false;
  wait_for(*chunk);
  return find(dataset, place);  // not any more when it could not be stored
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
                                if (cache().nothing_waits()) return;
                                const LibraryContext context;
                                cache().settle();
                              }) == 0;
  static_cast<void>(at_exit);
  dirty_.emplace(key(*chunk), chunk);
  chunk->dirty = true;
  ++chunk->dataset->unstored;
}

void ChunkCache::mark_clean(CachedChunk& chunk) {
  if (!chunk.dirty) return;
  chunk.dirty = false;
  --chunk.dataset->unstored;
  dirty_.erase(key(chunk));
}

void ChunkCache::store_encoded() noexcept {
  if (nothing_waits()) return;
  const Aside aside;
  stores_.finish_done();
  close_stored();
}

void ChunkCache::remove(const ChunkRef& chunk) {
  mark_clean(*chunk);
  used_ -= cost(*chunk);
  by_age_.erase(chunk->age);
  chunk->dataset->cached.erase(chunk->place);
}

void ChunkCache::drop(Dataset& dataset, std::uint64_t place) {
  const auto found = dataset.cached.find(place);
  if (found != dataset.cached.end()) drop(ChunkRef(found->second));
}

void ChunkCache::drop(Dataset& dataset) {
  while (!dataset.cached.empty()) drop(ChunkRef(dataset.cached.begin()->second));
}

void ChunkCache::drop(const ChunkRef& chunk) {
  wait_for(*chunk);
  const auto found = chunk->dataset->cached.find(chunk->place);
  if (found != chunk->dataset->cached.end() && found->second == chunk) remove(chunk);
}

void ChunkCache::make_room(std::size_t bytes) {
  while (!by_age_.empty() && used_ + bytes > limit_) {
    const ChunkRef oldest = by_age_.back();
    if (oldest->dirty) store_oldest();
    // It is gone already when it was passing, or could not be stored.
    if (!by_age_.empty() && by_age_.back() == oldest) remove(oldest);
  }
}

// Several at once, so that all threads have work.
void ChunkCache::store_oldest() {
  const ChunkRef oldest = by_age_.back();
  std::vector<ChunkRef> chunks;
  const std::size_t most = 4 * std::size_t{engine::workers()};
  for (auto at = by_age_.rbegin(); at != by_age_.rend() && chunks.size() < most; ++at)
    if ((*at)->dirty) chunks.push_back(*at);
  store_behind(chunks);
  for (const ChunkRef& chunk : chunks)
    if (chunk == oldest || !engine::may_run_behind(chunk->dataset->pipeline)) wait_for(*chunk);
}

void ChunkCache::stored(const ChunkRef& chunk) {
  mark_clean(*chunk);
  if (chunk->passing) remove(chunk);
}

void ChunkCache::lose(const ChunkRef& chunk) noexcept {
  chunk->dataset->handle->connector->defer(std::current_exception());
  remove(chunk);
}

void ChunkCache::store_behind(const ChunkRef& chunk) {
  if (chunk->storing) return;
  mark_dirty(chunk);
  while (!stores_.empty() && behind_ + chunk->bytes.size() > behind_limit())
    stores_.finish_oldest();
  stores_.give(std::make_unique<StoreJob>(*this, chunk));
}

// To make way for one, others may be finished: those are stored and perhaps gone.
void ChunkCache::store_behind(const std::vector<ChunkRef>& chunks) {
  for (const ChunkRef& chunk : chunks)
    if (chunk->dirty) store_behind(chunk);
}

void ChunkCache::wait_for(const CachedChunk& chunk) {
  while (chunk.storing) stores_.finish_oldest();
}

std::size_t ChunkCache::unstored_bytes(const vol::UnderConnector& connector) const {
  std::size_t bytes = 0;
  for (const auto& [key, chunk] : dirty_)
    if (chunk->dataset->handle->connector.get() == &connector) bytes += chunk->bytes.size();
  return bytes;
}

bool ChunkCache::nothing_waits() const { return dirty_.empty() && !any_closing(); }

void ChunkCache::settle() noexcept {
  if (nothing_waits()) return;
  const Aside aside;
  try {
    std::vector<ChunkRef> chunks;
    chunks.reserve(dirty_.size());
    for (const auto& [key, chunk] : dirty_) chunks.push_back(chunk);
    store_behind(chunks);
    stores_.finish();
  } catch (...) {  // out of memory: nothing dirty may stay, its handle may be about to close
    stores_.finish();
    while (!dirty_.empty()) lose(ChunkRef(dirty_.begin()->second));
  }
  close_stored();
}

ChunkCache& cache() {
  static auto& cache = *new ChunkCache;
  return cache;
}

}  // namespace headrace::async

#include "engine/chunk_cache.hpp"

#include <algorithm>

#include "engine/threads/thread_pool.hpp"

namespace headrace::engine {

class StoreJob final : public Job {
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
      encoded_ = chunk_->owner->encode(*chunk_);
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  // One chunk's failure is no reason to lose the others.
  void finish() override {
    try {
      if (error_ != nullptr) std::rethrow_exception(error_);
      if (!chunk_->owner->store(*chunk_, encoded_)) chunk_->passing = true;
    } catch (...) {
      cache_.lose(chunk_);
      return;
    }
    cache_.stored(chunk_);
  }

 private:
  ChunkCache& cache_;
  ChunkRef chunk_;
  Buffer encoded_;
  std::exception_ptr error_;
};

std::shared_ptr<CacheShare> ChunkCache::make_share(std::size_t limit) {
  const std::shared_ptr<CacheShare> share(new CacheShare{limit, 0, {}}, [this](CacheShare* gone) {
    std::erase(shares_, gone);
    delete gone;
    set_limit();
  });
  shares_.push_back(share.get());
  set_limit();
  return share;
}

void ChunkCache::set_limit() {
  const auto largest = std::ranges::max_element(shares_, {}, &CacheShare::limit);
  limit_ = largest == shares_.end() ? 0 : (*largest)->limit;
}

std::size_t ChunkCache::cost(const CachedChunk& chunk) {
  constexpr std::size_t kBookkeeping = 512;
  return chunk.bytes.size() + kBookkeeping;
}

ChunkRef ChunkCache::find(ChunkOwner& owner, std::uint64_t place) {
  const auto found = owner.cached_.find(place);
  if (found == owner.cached_.end()) return nullptr;
  use(found->second);
  return found->second;
}

void ChunkCache::use(const ChunkRef& chunk) {
  std::list<ChunkRef>& by_age = chunk->owner->share->by_age;
  by_age.splice(by_age.begin(), by_age, chunk->place_by_age);
  chunk->used = ++uses_;
}

ChunkRef ChunkCache::find_to_write(ChunkOwner& owner, std::uint64_t place) {
  const ChunkRef chunk = find(owner, place);
  if (chunk == nullptr) return nullptr;
  chunk->passing = false;
  wait_for(*chunk);
  return find(owner, place);  // not any more when it could not be stored
}

void ChunkCache::insert(const ChunkRef& chunk) {
  CacheShare& share = *chunk->owner->share;
  make_room(share, cost(*chunk));
  share.by_age.push_front(chunk);
  chunk->place_by_age = share.by_age.begin();
  chunk->used = ++uses_;
  chunk->owner->cached_.insert_or_assign(chunk->place, chunk);
  used_ += cost(*chunk);
  share.used += cost(*chunk);
}

void ChunkCache::mark_dirty(const ChunkRef& chunk) {
  if (chunk->dirty) return;
  dirty_.emplace(key(*chunk), chunk);
  chunk->dirty = true;
  ++chunk->owner->unstored_;
}

void ChunkCache::mark_clean(CachedChunk& chunk) {
  if (!chunk.dirty) return;
  chunk.dirty = false;
  --chunk.owner->unstored_;
  dirty_.erase(key(chunk));
}

void ChunkCache::store_encoded() { stores_.finish_done(); }

void ChunkCache::remove(const ChunkRef& chunk) {
  mark_clean(*chunk);
  CacheShare& share = *chunk->owner->share;
  used_ -= cost(*chunk);
  share.used -= cost(*chunk);
  share.by_age.erase(chunk->place_by_age);
  chunk->owner->cached_.erase(chunk->place);
}

void ChunkCache::drop(ChunkOwner& owner, std::uint64_t place) {
  const auto found = owner.cached_.find(place);
  if (found != owner.cached_.end()) drop(ChunkRef(found->second));
}

void ChunkCache::drop(ChunkOwner& owner) {
  if (owner.unstored_ > 0) store([&](const ChunkOwner& one) { return &one == &owner; });
  while (!owner.cached_.empty()) drop(ChunkRef(owner.cached_.begin()->second));
}

void ChunkCache::drop(const ChunkRef& chunk) {
  wait_for(*chunk);
  const auto found = chunk->owner->cached_.find(chunk->place);
  if (found != chunk->owner->cached_.end() && found->second == chunk) remove(chunk);
}

// The one whose oldest chunk must go to make room for so many bytes; null when there is room, or
// nothing that could go.
CacheShare* ChunkCache::share_to_cut(CacheShare& own, std::size_t bytes) {
  if (own.used + bytes > own.limit && !own.by_age.empty()) return &own;
  if (used_ + bytes <= limit_) return nullptr;
  CacheShare* oldest = nullptr;
  for (CacheShare* share : shares_)
    if (!share->by_age.empty() &&
        (oldest == nullptr || share->by_age.back()->used < oldest->by_age.back()->used))
      oldest = share;
  return oldest;
}

void ChunkCache::make_room(CacheShare& own, std::size_t bytes) {
  while (CacheShare* share = share_to_cut(own, bytes)) {
    const ChunkRef oldest = share->by_age.back();
    if (oldest->dirty) store_oldest(*share);
    // It is gone already when it was passing, or could not be stored.
    if (!share->by_age.empty() && share->by_age.back() == oldest) remove(oldest);
  }
}

// Several at once, so that all threads have work.
void ChunkCache::store_oldest(const CacheShare& share) {
  const ChunkRef oldest = share.by_age.back();
  std::vector<ChunkRef> chunks;
  const std::size_t most = 4 * std::size_t{workers()};
  for (auto at = share.by_age.rbegin(); at != share.by_age.rend() && chunks.size() < most; ++at)
    if ((*at)->dirty) chunks.push_back(*at);
  store_behind(chunks);
  for (const ChunkRef& chunk : chunks)
    if (chunk == oldest || !chunk->owner->encodes_behind()) wait_for(*chunk);
}

void ChunkCache::stored(const ChunkRef& chunk) {
  mark_clean(*chunk);
  if (chunk->passing) remove(chunk);
}

void ChunkCache::lose(const ChunkRef& chunk) noexcept {
  chunk->owner->lose(std::current_exception());
  remove(chunk);
}

void ChunkCache::store_behind(const ChunkRef& chunk) {
  if (chunk->storing) return;
  mark_dirty(chunk);
  while (!stores_.empty() && behind_ + chunk->bytes.size() > chunk->owner->share->behind_limit())
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

std::size_t ChunkCache::unstored_bytes(const OwnerTest& of) const {
  std::size_t bytes = 0;
  for (const auto& [key, chunk] : dirty_)
    if (of(*chunk->owner)) bytes += chunk->bytes.size();
  return bytes;
}

void ChunkCache::store(const OwnerTest& of) noexcept {
  if (dirty_.empty()) return;
  try {
    std::vector<ChunkRef> chunks;
    for (const auto& [key, chunk] : dirty_)
      if (of(*chunk->owner)) chunks.push_back(chunk);
    store_behind(chunks);
    for (const ChunkRef& chunk : chunks) wait_for(*chunk);
  } catch (...) {  // out of memory: nothing dirty may stay, its owner may be about to go
    stores_.finish();
    const auto next = [&] {
      return std::ranges::find_if(dirty_, [&](const auto& one) { return of(*one.second->owner); });
    };
    for (auto at = next(); at != dirty_.end(); at = next()) lose(ChunkRef(at->second));
  }
}

}  // namespace headrace::engine

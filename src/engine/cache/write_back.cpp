#include "engine/cache/write_back.hpp"

#include <algorithm>
#include <new>

#include "engine/threads/thread_pool.hpp"

namespace headrace::engine::cache {

class StoreJob final : public Job {
 public:
  StoreJob(WriteBack& cache, DirtyRef chunk)
      : cache_(cache), chunk_(std::move(chunk)), bytes_(chunk_->bytes.size()) {
    chunk_->encoding = true;
    cache_.behind_ += bytes_;
  }
  StoreJob(const StoreJob&) = delete;
  StoreJob& operator=(const StoreJob&) = delete;
  ~StoreJob() override {
    chunk_->encoding = false;
    cache_.behind_ -= bytes_;
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
  WriteBack& cache_;
  DirtyRef chunk_;
  std::size_t bytes_;
  Buffer encoded_;
  std::exception_ptr error_;
};

DirtyRef WriteBack::find(const Owner& owner, const Key& key) {
  if (owner.unstored_ == 0) return nullptr;
  const auto found = dirty_.find(key);
  if (found == dirty_.end()) return nullptr;
  ages_.use(found->second->place, room_.now());
  return found->second;
}

bool WriteBack::read(Owner& owner, std::uint64_t chunk, Visitor visitor) {
  const Key key{owner.cached_as, chunk};
  const DirtyRef dirty = find(owner, key);
  if (dirty == nullptr) return store_.read(key, visitor);
  visitor(std::as_const(dirty->bytes).bytes());
  return true;
}

DirtyRef WriteBack::find_to_write(Owner& owner, std::uint64_t chunk, const Index& origin) {
  const Key key{owner.cached_as, chunk};
  if (DirtyRef dirty = find(owner, key)) {
    dirty->passing = false;
    wait_for(*dirty);
    if (dirty->waits) return dirty;
  }
  Buffer stored = store_.take(key);
  return stored.size() == 0 ? nullptr : insert(owner, chunk, origin, std::move(stored));
}

DirtyRef WriteBack::insert(Owner& owner, std::uint64_t chunk, const Index& origin, Buffer bytes) {
  const Key key{owner.cached_as, chunk};
  store_.forget(key);
  const std::size_t size = bytes.size();
  auto dirty = std::make_shared<DirtyChunk>(owner, key, origin, std::move(bytes));
  if (!make_room(key.dataset.file, size)) room_.take_anyway(key.dataset.file, size);
  try {
    dirty->used = room_.now();
    dirty->place = ages_.insert(key.dataset.file, dirty);
    dirty_.emplace(key, dirty);
  } catch (...) {
    if (dirty->place.list != nullptr) ages_.erase(key.dataset.file, dirty->place);
    room_.give_back(key.dataset.file, size);
    throw;
  }
  ++owner.unstored_;
  return dirty;
}

void WriteBack::keep(Owner& owner, std::uint64_t chunk, Buffer bytes) {
  const Key key{owner.cached_as, chunk};
  if (find(owner, key) != nullptr || !make_room(key.dataset.file, bytes.size())) return;
  room_.give_back(key.dataset.file, bytes.size());  // for the store to take
  store_.put(key, bytes, room_.now());
}

// Takes it, where there is some or something can go.
bool WriteBack::make_room(const io::FileIdentity& file, std::size_t bytes) {
  for (;;) {
    const Room::Lack lack = room_.take(file, bytes);
    if (lack == Room::Lack::none) return true;
    const io::FileIdentity* const of = lack == Room::Lack::of_file ? &file : nullptr;
    const DirtyRef* const oldest = ages_.oldest(of);
    const std::uint64_t before =
        oldest == nullptr ? std::numeric_limits<std::uint64_t>::max() : (*oldest)->used;
    if (store_.evict(of, before)) continue;
    if (oldest == nullptr) return false;
    store_oldest(DirtyRef(*oldest));
  }
}

// Several of its file at once, so that all threads have work.
void WriteBack::store_oldest(const DirtyRef& oldest) {
  oldest->passing = true;
  std::vector<DirtyRef> chunks;
  const std::size_t most = 4 * std::size_t{workers()};
  const auto& of_file = ages_.of(oldest->key.dataset.file);
  for (auto at = of_file.rbegin(); at != of_file.rend() && chunks.size() < most; ++at)
    chunks.push_back(*at);
  store_behind(chunks);
  for (const DirtyRef& chunk : chunks)
    if (chunk == oldest || !chunk->owner->encodes_behind()) wait_for(*chunk);
}

void WriteBack::store_behind(const DirtyRef& chunk) {
  if (chunk->encoding) return;
  const std::size_t limit = chunk->owner->share->behind_limit();
  while (!encoding_.empty() && behind_ + chunk->bytes.size() > limit) encoding_.finish_oldest();
  encoding_.give(std::make_unique<StoreJob>(*this, chunk));
}

// To make way for one, others may be finished: those are stored and perhaps gone.
void WriteBack::store_behind(const std::vector<DirtyRef>& chunks) {
  for (const DirtyRef& chunk : chunks)
    if (chunk->waits) store_behind(chunk);
}

void WriteBack::wait_for(const DirtyChunk& chunk) {
  while (chunk.encoding) encoding_.finish_oldest();
}

void WriteBack::remove(const DirtyRef& chunk) {
  if (!chunk->waits) return;
  chunk->waits = false;
  --chunk->owner->unstored_;
  room_.give_back(chunk->key.dataset.file, chunk->bytes.size());
  ages_.erase(chunk->key.dataset.file, chunk->place);
  dirty_.erase(chunk->key);
}

void WriteBack::stored(const DirtyRef& chunk) noexcept {
  remove(chunk);
  if (chunk->passing) return;
  try {
    store_.put(chunk->key, chunk->bytes, chunk->used);
  } catch (const std::bad_alloc&) {
    return;  // it is in the file: nothing is lost
  }
}

void WriteBack::lose(const DirtyRef& chunk) noexcept {
  chunk->owner->lose(std::current_exception());
  remove(chunk);
}

void WriteBack::drop(Owner& owner, std::uint64_t chunk) {
  const Key key{owner.cached_as, chunk};
  if (const DirtyRef dirty = find(owner, key)) {
    dirty->passing = true;
    wait_for(*dirty);
    remove(dirty);
  }
  store_.forget(key);
}

void WriteBack::drop(Owner& owner) {
  if (owner.unstored_ > 0) store([&](const Owner& one) { return &one == &owner; });
  store_.forget(owner.cached_as);
}

std::size_t WriteBack::unstored_bytes(const OwnerTest& of) const {
  std::size_t bytes = 0;
  for (const auto& [key, chunk] : dirty_)
    if (of(*chunk->owner)) bytes += chunk->bytes.size();
  return bytes;
}

void WriteBack::store(const OwnerTest& of) noexcept {
  if (dirty_.empty()) return;
  try {
    std::vector<DirtyRef> chunks;
    for (const auto& [key, chunk] : dirty_)
      if (of(*chunk->owner)) chunks.push_back(chunk);
    std::ranges::sort(chunks, {}, [](const DirtyRef& chunk) -> const Key& { return chunk->key; });
    store_behind(chunks);
    for (const DirtyRef& chunk : chunks) wait_for(*chunk);
  } catch (...) {  // out of memory: nothing dirty may stay, its owner may be about to go
    encoding_.finish();
    const auto next = [&] {
      return std::ranges::find_if(dirty_, [&](const auto& one) { return of(*one.second->owner); });
    };
    for (auto at = next(); at != dirty_.end(); at = next()) lose(DirtyRef(at->second));
  }
}

}  // namespace headrace::engine::cache

#include "engine/cache/local_store.hpp"

#include <algorithm>
#include <limits>

namespace headrace::engine::cache {

// Counts as long as the visitor looks. take() sees by it whether the bytes are the store's alone.
class LocalStore::Visit {
 public:
  // With the lock held.
  explicit Visit(std::shared_ptr<Held> held) : held_(std::move(held)) {
    held_->visits.fetch_add(1, std::memory_order_relaxed);
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit() { held_->visits.fetch_sub(1, std::memory_order_release); }
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return std::as_const(held_->bytes).bytes();
  }

 private:
  std::shared_ptr<Held> held_;
};

LocalStore::~LocalStore() {
  while (!datasets_.empty()) remove_all(datasets_.begin());
}

const LocalStore::Place* LocalStore::find(const Key& key) const {
  if (last_ == nullptr || last_->first != key.dataset) {
    const auto dataset = datasets_.find(key.dataset);
    if (dataset == datasets_.end()) return nullptr;
    last_ = &*dataset;
  }
  const auto chunk = last_->second.find(key.chunk);
  return chunk == last_->second.end() ? nullptr : &chunk->second;
}

bool LocalStore::read(const Key& key, Visitor visitor) {
  std::unique_lock lock(mutex_);
  const Place* const place = find(key);
  if (place == nullptr) return false;
  ages_.use(*place, room_.now());
  const Visit visit(place->value().held);
  lock.unlock();
  visitor(visit.bytes());
  return true;
}

std::span<std::byte> LocalStore::begin(const Key& key, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (find(key) != nullptr || filling_.contains(key)) return {};
  const auto filling = filling_.emplace(key, Filling{Buffer(bytes)}).first;
  if (make_room(key.dataset.file, bytes)) return filling->second.bytes.bytes();
  filling_.erase(filling);
  return {};
}

void LocalStore::publish(const Key& key) {
  const std::lock_guard lock(mutex_);
  auto filled = filling_.extract(key);
  if (filled.mapped().forgotten)
    room_.give_back(key.dataset.file, filled.mapped().bytes.size());
  else
    add(key, std::move(filled.mapped().bytes), room_.now());
}

void LocalStore::abandon(const Key& key) noexcept {
  const std::lock_guard lock(mutex_);
  const auto filling = filling_.find(key);
  room_.give_back(key.dataset.file, filling->second.bytes.size());
  filling_.erase(filling);
}

bool LocalStore::put(const Key& key, Buffer& chunk, std::uint64_t used) {
  const std::lock_guard lock(mutex_);
  remove(key);
  if (const auto filling = filling_.find(key); filling != filling_.end())
    filling->second.forgotten = true;
  if (!make_room(key.dataset.file, chunk.size())) return false;
  add(key, std::exchange(chunk, Buffer()), used);
  return true;
}

Buffer LocalStore::take(const Key& key) {
  std::shared_ptr<Held> held;
  {
    const std::lock_guard lock(mutex_);
    if (find(key) == nullptr) return {};
    held = remove(key);
  }
  if (held->visits.load(std::memory_order_acquire) == 0) return std::move(held->bytes);
  Buffer copy(held->bytes.size());
  std::ranges::copy(std::as_const(held->bytes).bytes(), copy.data());
  return copy;
}

void LocalStore::forget(const Key& key) {
  const std::lock_guard lock(mutex_);
  remove(key);
  if (const auto filling = filling_.find(key); filling != filling_.end())
    filling->second.forgotten = true;
}

void LocalStore::forget(const DatasetKey& dataset) {
  const std::lock_guard lock(mutex_);
  const auto found = datasets_.find(dataset);
  if (found != datasets_.end()) remove_all(found);
  for (auto& [key, filling] : filling_)
    if (key.dataset == dataset) filling.forgotten = true;
}

void LocalStore::forget(const io::FileIdentity& file) {
  const std::lock_guard lock(mutex_);
  for (auto next = datasets_.begin(); next != datasets_.end();)
    if (const auto dataset = next++; dataset->first.file == file) remove_all(dataset);
  for (auto& [key, filling] : filling_)
    if (key.dataset.file == file) filling.forgotten = true;
}

std::size_t LocalStore::count(const DatasetKey& dataset) const {
  const std::lock_guard lock(mutex_);
  const auto found = datasets_.find(dataset);
  return found == datasets_.end() ? 0 : found->second.size();
}

bool LocalStore::evict(const io::FileIdentity* of, std::uint64_t before) {
  const std::lock_guard lock(mutex_);
  return drop_oldest(of, before);
}

bool LocalStore::make_room(const io::FileIdentity& file, std::size_t bytes) {
  for (;;) {
    const Room::Lack lack = room_.take(file, bytes);
    if (lack == Room::Lack::none) return true;
    if (!drop_oldest(lack == Room::Lack::of_file ? &file : nullptr,
                     std::numeric_limits<std::uint64_t>::max()))
      return false;
  }
}

bool LocalStore::drop_oldest(const io::FileIdentity* of, std::uint64_t before) {
  const Entry* const oldest = ages_.oldest(of);
  if (oldest == nullptr || oldest->used >= before) return false;
  remove(Key(oldest->key));
  return true;
}

// There is room for it.
void LocalStore::add(const Key& key, Buffer chunk, std::uint64_t used) {
  const std::size_t bytes = chunk.size();
  Place place;
  try {
    place = ages_.insert(key.dataset.file, {key, std::make_shared<Held>(std::move(chunk)), used});
    datasets_[key.dataset].emplace(key.chunk, place);
  } catch (...) {
    if (place.list != nullptr) ages_.erase(key.dataset.file, place);
    room_.give_back(key.dataset.file, bytes);
    throw;
  }
}

std::shared_ptr<LocalStore::Held> LocalStore::remove(const Key& key) {
  const Place* const found = find(key);
  if (found == nullptr) return nullptr;
  const Place place = *found;
  std::shared_ptr<Held> held = std::move(place.value().held);
  room_.give_back(key.dataset.file, held->bytes.size());
  ages_.erase(key.dataset.file, place);
  const auto dataset = datasets_.find(key.dataset);
  dataset->second.erase(key.chunk);
  if (dataset->second.empty()) {
    last_ = nullptr;
    datasets_.erase(dataset);
  }
  return held;
}

void LocalStore::remove_all(Datasets::iterator dataset) {
  const DatasetKey key = dataset->first;
  for (std::size_t left = dataset->second.size(); left > 0; --left)
    remove({key, dataset->second.begin()->first});
}

}  // namespace headrace::engine::cache

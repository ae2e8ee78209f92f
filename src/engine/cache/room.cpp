#include "engine/cache/room.hpp"

#include <algorithm>

namespace headrace::engine::cache {

std::shared_ptr<const Share> Room::share(const io::FileIdentity& file, std::size_t limit) {
  const std::shared_ptr<const Share> share(new Share{file, limit}, [this](const Share* gone) {
    drop(*gone);
    delete gone;
  });
  const std::lock_guard lock(mutex_);
  shares_.push_back(share.get());
  set_limits(file);
  return share;
}

void Room::drop(const Share& share) {
  const std::lock_guard lock(mutex_);
  std::erase(shares_, &share);
  set_limits(share.file);
}

void Room::set_limits(const io::FileIdentity& file) {
  File& own = files_[file];
  own.shares = 0;
  own.limit = 0;
  limit_ = 0;
  for (const Share* share : shares_) {
    limit_ = std::max(limit_, share->limit);
    if (share->file != file) continue;
    ++own.shares;
    own.limit = std::max(own.limit, share->limit);
  }
  forget_unused(file);
}

void Room::forget_unused(const io::FileIdentity& file) {
  const auto found = files_.find(file);
  if (found->second.shares == 0 && found->second.used == 0) files_.erase(found);
}

Room::Lack Room::take(const io::FileIdentity& file, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(file);
  if (found == files_.end()) return Lack::of_file;
  File& own = found->second;
  const std::size_t cost = bytes + kBookkeeping;
  if (own.used > 0 && own.used + cost > own.limit) return Lack::of_file;
  if (used_ > 0 && used_ + cost > limit_) return Lack::of_all;
  own.used += cost;
  used_ += cost;
  return Lack::none;
}

void Room::take_anyway(const io::FileIdentity& file, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  files_[file].used += bytes + kBookkeeping;
  used_ += bytes + kBookkeeping;
}

void Room::give_back(const io::FileIdentity& file, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  File& own = files_[file];
  own.used -= bytes + kBookkeeping;
  used_ -= bytes + kBookkeeping;
  forget_unused(file);
}

std::size_t Room::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

}  // namespace headrace::engine::cache

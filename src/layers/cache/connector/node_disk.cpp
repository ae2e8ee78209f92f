#include "layers/cache/connector/node_disk.hpp"

#include <pthread.h>

#include <map>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "base/private_folder.hpp"
#include "base/report/log.hpp"

namespace headrace::cache {

using engine::cache::Key;

namespace {

// Bytes: a program waits for them as it ends, and before it forks.
constexpr std::size_t kMostWaiting = std::size_t{32} << 20U;

using Disks = std::map<std::string, std::unique_ptr<NodeDisk>>;

// Leaked: HDF5 reads while the process exits. Null for what cannot be used.
Disks& disks() {
  static auto& disks = *new Disks;
  return disks;
}

void begin_child() {
  for (const auto& [path, disk] : disks())
    if (disk != nullptr) disk->store().begin_child();
}

}  // namespace

// Keeps what waits, one after the other.
class KeepJob : public engine::Job {
 public:
  explicit KeepJob(NodeDisk& disk) : disk_(disk) {}
  void work() override {
    while (const auto one = disk_.next())
      disk_.store_.keep(one->on_disk, one->bytes, [&](const engine::cache::Visitor& visitor) {
        return one->from.peek(one->key, visitor);
      });
  }
  void finish() override {}

 private:
  NodeDisk& disk_;
};

std::optional<NodeDisk::Waiting> NodeDisk::next() {
  const std::lock_guard lock(mutex_);
  at_work_ = !waiting_.empty();
  if (!at_work_) return std::nullopt;
  const Waiting first = waiting_.front();
  waiting_.pop_front();
  waiting_bytes_ -= first.bytes;
  return first;
}

NodeDisk* NodeDisk::in(const std::string& path, std::uint64_t size) {
  if (path.empty()) return nullptr;
  const auto known = disks().find(path);
  if (known != disks().end()) return known->second.get();
  if (disks().empty()) ::pthread_atfork(nullptr, nullptr, &cache::begin_child);
  std::unique_ptr<NodeDisk> disk;
  try {
    disk = std::make_unique<NodeDisk>(folder_of_user(path), size);
  } catch (const Error& error) {
    log(Level::warning, "no chunks are kept in " + path + ": " + error.what());
  }
  return disks().emplace(path, std::move(disk)).first->second.get();
}

void NodeDisk::keep_later(const Key& key, const Key& on_disk, std::size_t bytes,
                          engine::cache::SharedStore& from) {
  keeping_.finish_done();
  tell_failures();
  {
    const std::lock_guard lock(mutex_);
    if (waiting_bytes_ + bytes > kMostWaiting) return;
    waiting_.push_back({key, on_disk, bytes, from});
    waiting_bytes_ += bytes;
    if (std::exchange(at_work_, true)) return;
  }
  keeping_.give(std::make_unique<KeepJob>(*this));
}

void NodeDisk::finish_all() {
  for (const auto& [path, disk] : disks()) {
    if (disk == nullptr) continue;
    disk->keeping_.finish();
    disk->tell_failures();
  }
}

// Each kind once.
void NodeDisk::tell_failures() {
  if (const char* const why = store_.failure();
      why != nullptr && !std::exchange(told_failure_, true))
    log(Level::warning, "no more chunks are kept in " + folder_ + ": " + why);
  if (store_.damaged() > 0 && !std::exchange(told_damage_, true))
    log(Level::warning, "a chunk in " + folder_ + " was damaged, and decoded from its file again");
}

}  // namespace headrace::cache

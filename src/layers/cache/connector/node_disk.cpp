#include "layers/cache/connector/node_disk.hpp"

#include <pthread.h>

#include <map>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "base/report/log.hpp"

namespace headrace::cache {

using engine::cache::Key;
using engine::cache::Store;

namespace {

constexpr std::size_t kMostWaiting = std::size_t{64} << 20U;  // bytes: a program waits for them
constexpr std::size_t kMostJobs = 1000;                       // as it ends

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

class KeepJob : public engine::Job {
 public:
  KeepJob(NodeDisk& disk, const Key& key, const Key& on_disk, std::size_t bytes, Store& from)
      : disk_(disk), key_(key), on_disk_(on_disk), bytes_(bytes), from_(from) {}
  void work() override { disk_.store_.keep(on_disk_, bytes_, from_, key_); }
  void finish() override {
    disk_.waiting_ -= bytes_;
    --disk_.jobs_;
  }

 private:
  NodeDisk& disk_;
  Key key_;
  Key on_disk_;
  std::size_t bytes_;
  Store& from_;
};

NodeDisk* NodeDisk::in(const std::string& path, std::uint64_t size) {
  if (path.empty()) return nullptr;
  const auto known = disks().find(path);
  if (known != disks().end()) return known->second.get();
  if (disks().empty()) ::pthread_atfork(nullptr, nullptr, &cache::begin_child);
  std::unique_ptr<NodeDisk> disk;
  try {
    disk = std::make_unique<NodeDisk>(engine::cache::folder_of_user(path), size);
  } catch (const Error& error) {
    log(Level::warning, "no chunks are kept in " + path + ": " + error.what());
  }
  return disks().emplace(path, std::move(disk)).first->second.get();
}

void NodeDisk::keep_later(const Key& key, const Key& on_disk, std::size_t bytes, Store& from) {
  keeping_.finish_done();
  tell_failures();
  if (waiting_ + bytes > kMostWaiting || jobs_ >= kMostJobs) return;
  keeping_.give(std::make_unique<KeepJob>(*this, key, on_disk, bytes, from));
  waiting_ += bytes;
  ++jobs_;
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

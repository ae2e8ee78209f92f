// The node's disk as a second place for chunks (option `path`): looked at before a chunk is
// decoded, written behind the program. The program's thread only.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "engine/cache/disk/disk_store.hpp"
#include "engine/cache/shared/shared_store.hpp"
#include "engine/threads/ordered.hpp"

namespace headrace::cache {

class NodeDisk {
 public:
  // `folder`: of this user. Throws Error.
  NodeDisk(const std::string& folder, std::uint64_t size) : folder_(folder), store_(folder, size) {}

  // That of the process for a folder of the node's disk, for good; the first call's size holds.
  // Null where it cannot be used, which is said once.
  static NodeDisk* in(const std::string& path, std::uint64_t size);
  // What waits to be written is, in all of them.
  static void finish_all();

  engine::cache::DiskStore& store() { return store_; }

  // A worker takes the chunk from the store that has it now. Where chunks come faster than the disk
  // takes them some are not kept.
  void keep_later(const engine::cache::Key& key, const engine::cache::Key& on_disk,
                  std::size_t bytes, engine::cache::SharedStore& from);

 private:
  friend class KeepJob;
  struct Waiting {
    engine::cache::Key key;
    engine::cache::Key on_disk;
    std::size_t bytes;
    engine::cache::SharedStore& from;
  };
  void tell_failures();
  std::optional<Waiting> next();

  std::string folder_;
  engine::cache::DiskStore store_;
  std::mutex mutex_;  // of the next three
  std::deque<Waiting> waiting_;
  std::size_t waiting_bytes_ = 0;
  bool at_work_ = false;  // one worker, as decoding is more urgent
  bool told_failure_ = false;
  bool told_damage_ = false;
  engine::Ordered keeping_{2};  // ends before the store
};

}  // namespace headrace::cache

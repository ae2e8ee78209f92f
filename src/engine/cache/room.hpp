// How much memory chunks may take: those that a process has in its store, and beside it those that
// are not stored yet. Each file stays within its limit, and all of them within the largest limit.
// One chunk has room whatever it takes.
//
// All functions may be called from any thread, several at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/io/file_identity.hpp"

namespace headrace::engine::cache {

// What a file has of a room, as long as somebody has it. Of several of one file the largest holds.
struct Share {
  io::FileIdentity file;
  std::size_t limit;  // bytes

  // How many bytes of chunks may be encoded behind the program.
  [[nodiscard]] std::size_t behind_limit() const { return limit / 2; }
};

class Room {
 public:
  // The room outlives it. Where nobody has one, a file has no room at all.
  std::shared_ptr<const Share> share(const io::FileIdentity& file, std::size_t limit);

  // Whose chunks must go to make room for one more.
  enum class Lack { none, of_file, of_all };
  // Takes room for a chunk of so many bytes where there is some, or lacks it.
  Lack take(const io::FileIdentity& file, std::size_t bytes);
  // Takes it in any case.
  void take_anyway(const io::FileIdentity& file, std::size_t bytes);
  void give_back(const io::FileIdentity& file, std::size_t bytes);

  // A moment later than all before: when a chunk is used.
  std::uint64_t now() { return moments_.fetch_add(1, std::memory_order_relaxed); }

  // Bytes that are taken, with what keeping a chunk costs beside them.
  [[nodiscard]] std::size_t used() const;
  static constexpr std::size_t kBookkeeping = 512;

 private:
  struct File {
    unsigned shares = 0;
    std::size_t limit = 0;
    std::size_t used = 0;
  };
  void drop(const Share& share);
  void set_limits(const io::FileIdentity& file);
  void forget_unused(const io::FileIdentity& file);

  mutable std::mutex mutex_;
  std::map<io::FileIdentity, File> files_;
  std::vector<const Share*> shares_;
  std::size_t limit_ = 0;
  std::size_t used_ = 0;
  std::atomic<std::uint64_t> moments_{1};
};

}  // namespace headrace::engine::cache

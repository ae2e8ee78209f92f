// Blocks of files that are read ahead, and the tasks that read them: of the whole process.
#pragma once

#include <chrono>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <span>

#include "engine/buffer.hpp"
#include "engine/io/file.hpp"

namespace headrace::engine::reading {

using Clock = std::chrono::steady_clock;

struct FileReads {
  io::File* storage = nullptr;
  std::uint64_t limit = 0;  // of `used`
  std::uint64_t used = 0;   // bytes, of blocks being read too
  unsigned reading = 0;     // blocks, dropped ones too
};

// What is not constant is read and changed under the mutex of Blocks; `bytes` and `time` also by
// who has pinned it.
struct Block {
  enum class State { queued, reading, ready, lost };

  FileReads* file;
  std::uint64_t stream;
  std::uint64_t begin;
  std::uint64_t size;
  State state = State::queued;
  bool pinned = false;
  bool dropped = false;  // while it was being read
  Buffer bytes;
  std::chrono::nanoseconds time{};  // that the read took
  Clock::time_point since;          // when it was queued
  std::list<std::shared_ptr<Block>>::iterator place;
  std::uint64_t used = 0;  // bytes that were asked for; the program's thread only

  [[nodiscard]] std::uint64_t end() const { return begin + size; }
};
using BlockRef = std::shared_ptr<Block>;

// May be called from any thread. Reads throw nothing: what cannot be read is lost.
class Blocks {
 public:
  static Blocks& get();  // leaked: HDF5 closes files after the statics of C++ are gone

  void enter(FileReads& file);

  // Has a block read by a worker. Null when there is no memory for it.
  BlockRef add(FileReads& file, std::uint64_t stream, std::uint64_t begin, std::uint64_t size);
  // Waits for the block's bytes, or reads them on this thread if no worker has begun. Returns
  // whether they are there; they stay until unpin() then.
  bool pin(Block& block);
  void unpin(Block& block);
  // Changes bytes of the block from `within` on. False when they are not there yet, or not any
  // more.
  bool change(Block& block, std::uint64_t within, std::span<const std::byte> bytes);
  // Returns at once; a read that has begun goes on.
  void drop(Block& block);
  // Waits until nothing of the file, of which all blocks have been dropped, is being read. The file
  // has entered.
  void leave(FileReads& file);

 private:
  using Lock = std::unique_lock<std::mutex>;
  Blocks();
  [[nodiscard]] bool fits(const FileReads& file, std::uint64_t size) const;
  bool make_room(Lock& lock, const FileReads& file, std::uint64_t size);
  void read(Lock& lock, Block& block);
  void release(Lock& lock, Block& block);
  void start_tasks(Lock& lock);
  void run_task();
  BlockRef next_queued();
  void prepare_fork();
  void end_fork(bool child);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<BlockRef> all_;              // not lost, the oldest first
  std::uint64_t used_ = 0;               // bytes, of all files
  std::multiset<std::uint64_t> limits_;  // of the files; the largest holds for all together
  std::size_t queued_ = 0;
  std::size_t reading_ = 0;
  unsigned tasks_ = 0;  // given to the pool and not ended
  bool forking_ = false;
};

}  // namespace headrace::engine::reading

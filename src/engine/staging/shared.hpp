// What all staged files of the process share: one mutex, the memory, and the tasks that write.
//
// A page that is full is ready to be written, unless it was so before: pages that are written again
// and again had better be staged for a while. Others wait for more, too, until they are old, memory
// is short, or their file is drained. A task takes a run of adjacent ready pages of one file and
// writes them at once. The program may write to a page again meanwhile: a new version of it is
// staged then, which is written after the older one.
#pragma once

#include <atomic>
#include <bitset>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "engine/io/file.hpp"
#include "engine/staging/memory.hpp"
#include "engine/staging/put_backs.hpp"
#include "engine/staging/statistics.hpp"

namespace headrace::engine::staging {

struct Versions {
  Page* older = nullptr;  // being written, or failed
  Page* newer = nullptr;
};
using Table = std::map<std::uint64_t, Versions>;

// The places of a file that have been staged before.
class Places {
 public:
  // Adds one; returns whether it was there.
  bool add(std::uint64_t index) {
    auto bit = chunks_[index / kChunk][index % kChunk];
    const bool before = bit;
    bit = true;
    return before;
  }

 private:
  static constexpr std::size_t kChunk = 4096;
  std::map<std::uint64_t, std::bitset<kChunk>> chunks_;
};

struct FileState {
  // Storage that is as fast as fresh memory is not worth much of that. In bytes a nanosecond.
  static constexpr double kFast = 0.5;

  io::File* storage = nullptr;
  bool fills_gaps = true;  // between written ranges, with what the file has there
  // Where the file below ends at most: from there on it reads as zeros. kAnywhere, for good, where
  // others write to it too.
  static constexpr std::uint64_t kAnywhere = ~std::uint64_t{0};
  std::uint64_t reached = 0;
  double speed = kFast;                 // of late
  bool timed = false;                   // the speed has been seen
  std::uint64_t budget = 0;             // in bytes; see StagingLimits
  bool asked = false;                   // for that one, by the program or its user
  std::chrono::nanoseconds interval{};  // the age at which partial pages are written; 0: none
  Places places;
  std::pair<std::uint64_t, std::uint64_t>
      last_view;  // begin and end of what was read last, unless something was written since
  PutBacks put_backs;
  Table pages;
  PageList ready;
  PageList partial;         // the oldest first
  std::size_t writing = 0;  // pages in state writing
  std::size_t filling = 0;
  std::optional<Error> error;  // the first since the last report
  StagingStatistics statistics;

  // After `runs` runs at a time, of `size` bytes each.
  void note_speed(std::uint64_t size, std::chrono::nanoseconds time, double runs = 1);
  // That staging for the file may make, in bytes. To touch fresh memory costs what fast storage
  // costs: for large writes to such it is worth it only where they go on and use it again.
  [[nodiscard]] std::uint64_t most_memory(bool large) const;
};

using Lock = std::unique_lock<std::mutex>;

// Functions that take a Lock are called with the mutex held; they may release it for a while where
// it says so.
class Shared {
 public:
  static Shared& get();  // leaked: HDF5 closes files after the statics of C++ are gone

  std::mutex mutex;
  std::condition_variable changed;  // a run has ended, or a fork
  Memory memory;

  void enter(FileState& file);  // takes the mutex
  void leave(FileState& file);

  // A free page for the file, put into no list, or null. `large`: the write may as well go to the
  // file directly.
  Page* take(Lock& lock, FileState& file, std::uint64_t index, bool large);
  // Gives a page back that is in no table, as soon as nobody reads it. If it is of lent bytes,
  // that ends its part in the request.
  void release(Lock& lock, Page& page, const std::exception_ptr& error = nullptr);
  // One reader less.
  void stop_reading(Lock& lock, Page& page);

  // The page takes no more for now: writes it when nothing older is in its way.
  void make_ready(Lock& lock, Page& page);
  // After bytes were added to a page that is in no list.
  void put(Lock& lock, Page& page);
  void keep_partial(Lock& lock, Page& page);
  // The calling thread copies into the page with the mutex released, until it says otherwise.
  void begin_filling(Lock& lock, Page& page);
  void end_filling(Lock& lock, Page& page);
  // Takes a page out of the list that it is in.
  void unlist(Lock& lock, Page& page);
  // Sees to it that tasks write what is ready, once it is worth a task.
  void start_tasks(Lock& lock);

  // Writes a run of the file's ready pages on this thread. Releases the mutex. False when there is
  // none.
  bool write_run(Lock& lock, FileState& file);
  // Makes progress towards a free page, as long as that is possible. Releases the mutex.
  bool make_room(Lock& lock);
  // Makes all pages of the file ready, failed ones too, unless an older version failed.
  void push_all(Lock& lock, FileState& file);
  // Waits until nothing of the file is ready or being written, and helps. Releases the mutex.
  void settle(Lock& lock, FileState& file);
  // Waits while the process is being forked. Releases the mutex.
  void wait_for_fork(Lock& lock) {
    changed.wait(lock, [&] { return !forking_; });
  }
  [[nodiscard]] bool forking() const { return forking_; }

 private:
  struct Run;
  Shared();
  void run_task();
  FileState* next_file();
  static Run take_run(FileState& file);
  void end_run(Lock& lock, FileState& file, const Run& run);
  void end_page(Lock& lock, FileState& file, Page& page, const std::optional<Error>& error);
  void dispose(Page& page);
  FileState* file_with_oldest();
  void set_budget(Lock& lock);
  void push_first(Lock& lock, FileState& file);
  void push_oldest(Lock& lock, std::uint64_t pages);
  void push_old(std::chrono::nanoseconds interval);
  void arm_timer(std::chrono::nanoseconds interval, std::chrono::nanoseconds delay);
  void prepare_fork();
  void end_fork(bool child);

  std::vector<FileState*> files_;
  std::size_t turn_ = 0;   // files take turns
  std::size_t ready_ = 0;  // pages, of all files
  std::size_t writing_ = 0;
  std::size_t filling_ = 0;
  unsigned tasks_ = 0;                         // given to the pool and not begun
  bool urgent_ = false;                        // all that is ready is worth a task
  std::set<std::chrono::nanoseconds> timers_;  // the intervals whose files have one running
  bool forking_ = false;
  std::atomic<std::thread::id> forker_;  // holds the mutex, and may run tasks meanwhile
};

}  // namespace headrace::engine::staging

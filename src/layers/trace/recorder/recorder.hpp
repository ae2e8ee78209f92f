// What this process records: rows and facts are gathered in memory, and a thread of its own encodes
// and writes them to the trace file at least twice a second. That thread never calls HDF5, and none
// of the engine's tasks can hold it up.
//
// Any thread may call any function. Nothing that goes wrong reaches the program: the log tells of
// it once, and nothing is recorded any more. A child after fork() records to a file of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "layers/trace/recorder/name_key.hpp"
#include "layers/trace/recorder/sums.hpp"
#include "layers/trace/recorder/tables.hpp"
#include "layers/trace/recorder/trace_file.hpp"

namespace headrace::trace {

struct Choices {
  std::string folder;      // absolute
  bool anonymous = false;  // names of files and objects are replaced by hashes
  bool lines = true;       // tell which lines of Python have called
  bool sums = false;       // rows of what is alike are summed up: level `profile`
  bool callers = false;    // tell which places of a compiled program have called
  bool arguments = false;  // tell what calls were given, for a replay
  NameKey key{};           // of the hashes; start() fills it in
};

class Recorder {
 public:
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder() = delete;

  // Of this process; not to be kept across a fork. Leaked: HDF5 closes files after the statics of
  // C++ are gone.
  static Recorder& get() {
    Recorder* const current = current_.load(std::memory_order_acquire);
    return current != nullptr ? *current : make();
  }

  static std::int64_t now() noexcept;  // nanoseconds of the machine's monotonic clock

  // Begins to record, once in a process: the first choices hold.
  void start(const Choices& choices) noexcept;
  // Ends recording for good; the log tells why.
  void give_up(std::string_view why) noexcept;
  [[nodiscard]] bool on() const { return on_.load(std::memory_order_relaxed); }
  // Whether the process was forked from one that goes on: it may end by _exit(), without HDF5.
  [[nodiscard]] bool in_child() const { return generation_ > 0 || forked_; }

  [[nodiscard]] const Choices& choices() const { return choices_; }

  // The number of a call that begins; of anything else that facts are about.
  std::uint64_t next_number() noexcept { return ++numbers_; }
  std::uint32_t next_id() noexcept { return ++ids_; }
  // Small, the same for all rows of the thread that calls.
  std::uint32_t thread() noexcept;

  void add(const Call& call) noexcept;
  void add(const Request& request) noexcept;
  // Where rows are summed up: a call, and the requests that were made in it, without its number.
  void add_up(const Call& call, std::span<const Request> requests) noexcept;
  // A line of JSON.
  void add_fact(std::string_view json) noexcept;

  // A name as it is to be told: itself, or a path of hashes.
  [[nodiscard]] std::string told(std::string_view name) const;

  // Returns when the file has all that was recorded.
  void flush() noexcept;
  [[nodiscard]] bool has_unwritten() noexcept;

 private:
  // What is written as one segment: facts, or rows of a table.
  using Part = std::variant<std::string, std::vector<Call>, std::vector<Request>>;

  Recorder() = default;
  Recorder(const Recorder& parent);
  static Recorder& make();
  static void begin_child();

  template <typename Action>
  void guarded(Action action) noexcept;
  [[nodiscard]] std::string description() const;
  // With the mutex held.
  void note_change();
  void seal_all();
  template <typename Rows>
  void seal(Rows& rows, Rows& spare);
  void start_writer();
  // With the file's mutex held.
  void open_file();
  // Take the mutexes.
  void write_sealed();
  void keep_spare(Part part);
  void help(std::unique_lock<std::mutex>& lock);
  [[noreturn]] void work();

  static inline std::atomic<Recorder*> current_ = nullptr;

  std::atomic<bool> on_ = false;
  std::atomic<std::uint64_t> numbers_ = 0;
  std::atomic<std::uint32_t> ids_ = 0;
  std::atomic<std::uint32_t> threads_ = 0;
  const unsigned generation_ = 0;  // forks between the first process and this one
  Choices choices_;
  bool forked_ = false;  // by a process that recorded nothing
  std::string library_;  // what HDF5 it is of: that is gone when the process ends
  std::string version_;

  std::mutex file_mutex_;  // taken before the other one
  std::unique_ptr<TraceFile> file_;
  const std::string parents_file_;     // its path; empty in a process that was not forked
  const std::uint32_t known_ids_ = 0;  // that facts of the parent are about

  std::mutex mutex_;  // of all below
  std::condition_variable wake_;
  std::string facts_;
  std::vector<Call> calls_;
  std::vector<Request> requests_;
  Sums<Call> call_sums_;
  Sums<Request> request_sums_;
  // Empty, of those that were written: memory that is used again costs no page faults.
  std::string spare_facts_;
  std::vector<Call> spare_calls_;
  std::vector<Request> spare_requests_;
  std::deque<Part> sealed_;
  bool changed_ = false;  // since all was sealed
  bool has_writer_ = false;
};

}  // namespace headrace::trace

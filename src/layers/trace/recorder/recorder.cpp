#include "layers/trace/recorder/recorder.hpp"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <exception>
#include <filesystem>
#include <span>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/process/blocked_signals.hpp"
#include "base/report/json.hpp"
#include "base/report/log.hpp"
#include "hdf5/api.hpp"
#include "layers/trace/recorder/columns.hpp"
#include "layers/trace/recorder/process.hpp"

namespace headrace::trace {
namespace {

constexpr std::size_t kRows = 8192;                      // of a segment
constexpr std::size_t kFacts = std::size_t{256} << 10U;  // bytes of a segment, uncompressed
constexpr std::size_t kMostSealed = 4;                   // segments that wait to be written
constexpr std::chrono::milliseconds kInterval{500};

// Of the calling thread, in the process of that generation.
struct ThreadNumber {
  unsigned generation = 0;
  std::uint32_t number = 0;
};
thread_local ThreadNumber thread_number;

void append(TraceFile& file, const std::string& facts) { file.append(Table::facts, 0, facts); }

template <typename Row>
void append(TraceFile& file, const std::vector<Row>& rows) {
  constexpr Table table = std::is_same_v<Row, Call> ? Table::calls : Table::requests;
  file.append(table, static_cast<std::uint32_t>(rows.size()), in_columns(std::span(rows)));
}

// Makes the memory of the row after the last one this core's, before it is waited for.
void fetch_next(const std::vector<Call>& rows) {
  constexpr std::size_t kLine = 64;
  const auto* const next = reinterpret_cast<const std::byte*>(rows.data() + rows.size());
  for (std::size_t at = 0; at < sizeof(Call); at += kLine) __builtin_prefetch(next + at, 1);
}

}  // namespace

// No lock is held while the process forks: layers above may write to files meanwhile, and do so
// through here. The child forgets all of its parent's but what is counted and chosen.
Recorder& Recorder::make() {
  [[maybe_unused]] static const int once = [] {
    current_ = new Recorder;  // first: a fork may come at any moment
    return ::pthread_atfork(nullptr, nullptr, &begin_child);
  }();
  return *current_.load();
}

void Recorder::begin_child() { current_ = new Recorder(*current_.load()); }

Recorder::Recorder(const Recorder& parent)
    : on_(parent.on_.load()),
      numbers_(parent.numbers_.load()),
      ids_(parent.ids_.load()),
      generation_(parent.generation_ + 1),
      choices_(parent.choices_),
      library_(parent.library_),
      version_(parent.version_),
      parents_file_(parent.file_ == nullptr ? parent.parents_file_ : parent.file_->path()),
      known_ids_(parent.file_ == nullptr ? parent.known_ids_ : parent.ids_.load()) {}

std::int64_t Recorder::now() noexcept {
  std::timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

template <typename Action>
void Recorder::guarded(Action action) noexcept {
  try {
    action();
  } catch (const std::exception& error) {
    give_up(error.what());
  }
}

void Recorder::give_up(std::string_view why) noexcept {
  if (!on_.exchange(false)) return;
  try {
    log(Level::warning, std::string(why) + "; nothing more is recorded, the program goes on");
  } catch (const std::exception&) {  // no memory for the message
  }
}

void Recorder::start(const Choices& choices) noexcept {
  static std::atomic_flag started;
  if (started.test_and_set()) return;
  guarded([&] {
    choices_ = choices;
    choices_.folder = std::filesystem::absolute(choices.folder);  // programs change directory
    library_ = library.path;
    version_ = library.version;
    forked_ = is_parents_program();
  });
  on_ = true;
  guarded([&] {
    const std::lock_guard lock(file_mutex_);
    if (choices_.anonymous) choices_.key = name_key(choices_.folder);
    open_file();
  });
}

// A child makes its file when it records something.
void Recorder::open_file() {
  file_ = std::make_unique<TraceFile>(choices_.folder);
  file_->append(Table::facts, 0, description());
}

std::string Recorder::description() const {
  const auto columns = [](const auto& names) {
    std::string list;
    for (const std::string_view name : names) list += (list.empty() ? "" : ",") + json_quote(name);
    return '[' + list + ']';
  };
  JsonObject format;
  format.number("format", 1)
      .raw("calls", columns(kCallColumns))
      .raw("requests", columns(kRequestColumns))
      .raw("callbacks", callback_names());
  JsonObject process = process_facts(choices_.anonymous);
  process.text("hdf5", version_).text("library", told(library_));
  if (!parents_file_.empty())
    process.text("forked_from", std::filesystem::path(parents_file_).filename().string())
        .number("known_ids", known_ids_);
  process.number("monotonic", now());
  return format.str() + '\n' + JsonObject().raw("process", process.str()).str() + '\n';
}

std::uint32_t Recorder::thread() noexcept {
  ThreadNumber& mine = thread_number;
  if (mine.number == 0 || mine.generation != generation_) {
    mine = {generation_, ++threads_};
    guarded([&] {
      add_fact(JsonObject().number("thread", mine.number).number("tid", ::gettid()).str());
    });
  }
  return mine.number;
}

void Recorder::add(const Call& call) noexcept {
  guarded([&] {
    std::unique_lock lock(mutex_);
    note_change();
    calls_.push_back(call);
    fetch_next(calls_);
    if (calls_.size() >= kRows) seal_all();
    help(lock);
  });
}

void Recorder::add(const Request& request) noexcept {
  guarded([&] {
    std::unique_lock lock(mutex_);
    note_change();
    if (choices_.sums)
      request_sums_.add(requests_, request);
    else
      requests_.push_back(request);
    if (requests_.size() >= kRows) seal_all();
    help(lock);
  });
}

void Recorder::add_up(const Call& call, std::span<const Request> requests) noexcept {
  guarded([&] {
    std::unique_lock lock(mutex_);
    note_change();
    const std::uint64_t number = call_sums_.add(calls_, call).number;
    for (Request request : requests) {
      request.call = number;
      request_sums_.add(requests_, request);
    }
    if (calls_.size() >= kRows || requests_.size() >= kRows) seal_all();
    help(lock);
  });
}

void Recorder::add_fact(std::string_view json) noexcept {
  guarded([&] {
    std::unique_lock lock(mutex_);
    note_change();
    facts_ += json;
    facts_ += '\n';
    if (facts_.size() >= kFacts) seal_all();
    help(lock);
  });
}

std::string Recorder::told(std::string_view name) const {
  if (!choices_.anonymous) return std::string(name);
  std::string hashed;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    if (end > at) hashed += hash_of(name.substr(at, end - at), choices_.key);
    if (end < name.size()) hashed += '/';
    at = end + 1;
  }
  return hashed;
}

// What has gathered while the writer sleeps is written after the interval.
void Recorder::note_change() {
  if (std::exchange(changed_, true)) return;
  if (!has_writer_) start_writer();
  wake_.notify_one();
}

template <typename Rows>
void Recorder::seal(Rows& rows, Rows& spare) {
  if (rows.empty()) return;
  sealed_.emplace_back(std::move(rows));
  rows = std::exchange(spare, {});
}

// All at once: no table waits for another one, and facts come before most rows that are about them.
void Recorder::seal_all() {
  seal(facts_, spare_facts_);
  seal(calls_, spare_calls_);
  seal(requests_, spare_requests_);
  if (choices_.sums) {
    call_sums_.clear();
    request_sums_.clear();
  }
  changed_ = false;
  wake_.notify_one();
}

// Where the writer cannot keep up, who records writes.
void Recorder::help(std::unique_lock<std::mutex>& lock) {
  if (sealed_.size() <= kMostSealed) return;
  lock.unlock();
  write_sealed();
}

void Recorder::write_sealed() {
  const std::lock_guard file_lock(file_mutex_);
  while (true) {
    Part next;
    {
      const std::lock_guard lock(mutex_);
      if (sealed_.empty()) return;
      next = std::move(sealed_.front());
      sealed_.pop_front();
    }
    if (!on()) continue;
    guarded([&] {
      if (file_ == nullptr) open_file();
      std::visit([&](const auto& rows) { append(*file_, rows); }, next);
      keep_spare(std::move(next));
    });
  }
}

void Recorder::keep_spare(Part part) {
  std::visit([](auto& rows) { rows.clear(); }, part);
  const std::lock_guard lock(mutex_);
  if (auto* const facts = std::get_if<std::string>(&part)) spare_facts_ = std::move(*facts);
  if (auto* const calls = std::get_if<std::vector<Call>>(&part)) spare_calls_ = std::move(*calls);
  if (auto* const requests = std::get_if<std::vector<Request>>(&part))
    spare_requests_ = std::move(*requests);
}

void Recorder::flush() noexcept {
  guarded([&] {
    {
      const std::lock_guard lock(mutex_);
      seal_all();
    }
    write_sealed();
  });
}

bool Recorder::has_unwritten() noexcept {
  const std::lock_guard lock(mutex_);
  return on() && (changed_ || !sealed_.empty());
}

void Recorder::start_writer() {
  const BlockedSignals for_the_program;
  try {
    std::thread writer([this] { work(); });
    ::pthread_setname_np(writer.native_handle(), "headrace-trace");  // in top -H and debuggers
    writer.detach();
    has_writer_ = true;
  } catch (const std::system_error&) {
    // Without it, help() and flush() write.
  }
}

void Recorder::work() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return changed_ || !sealed_.empty(); });
      wake_.wait_for(lock, kInterval, [&] { return !sealed_.empty(); });
      if (sealed_.empty()) guarded([&] { seal_all(); });
    }
    write_sealed();
  }
}

}  // namespace headrace::trace

#include "engine/cache/shared/writers.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>

#include "base/error.hpp"
#include "engine/cache/key.hpp"

namespace headrace::engine::cache {
namespace {

constexpr std::uint64_t kMagic = 0x3173726574697277;  // "writers1"
constexpr const char* kName = "writers-1";

// Leaked, and replaced after the file was removed: others may use the old one still.
std::atomic<Writers*>& current() {
  static auto& current = *new std::atomic<Writers*>;
  return current;
}

void begin_child_of_process() {
  if (Writers* const writers = current().load()) writers->begin_child();
}

}  // namespace

Writers& Writers::get() {
  static auto& making = *new std::mutex;
  Writers* writers = current().load(std::memory_order_acquire);
  if (writers != nullptr && writers->is_current()) return *writers;
  const std::lock_guard lock(making);
  static const int registered = ::pthread_atfork(nullptr, nullptr, &begin_child_of_process);
  static_cast<void>(registered);
  writers = current().load();
  if (writers == nullptr || !writers->is_current()) {
    writers = new Writers(kName);
    current().store(writers, std::memory_order_release);
  }
  return *writers;
}

Writers::Writers(const std::string& name) : file_(open_private(shared_folder(), name, &fill)) {
  file_.note_file();
  struct stat status{};
  if (::fstat(file_.get(), &status) != 0 || status.st_size != sizeof(Table))
    throw Error(shared_folder() + "/" + name + " is damaged", ErrorKind::corrupt);
  table_ = reinterpret_cast<Table*>(map_shared(file_.get(), sizeof(Table)));
  if (table_->magic != kMagic)
    throw Error(shared_folder() + "/" + name + " is damaged", ErrorKind::corrupt);
}

bool Writers::is_current() {
  struct timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  if (looked_.exchange(now.tv_sec) == now.tv_sec) return true;
  return has_name(file_.get());
}

void Writers::fill(int descriptor) {
  std::uint64_t first = 0;
  if (::getrandom(&first, sizeof first, 0) != sizeof first) throw Error("no random number", errno);
  const std::array<std::uint64_t, 2> begin{kMagic, first};
  reserve(descriptor, 0, sizeof(Table));
  if (::pwrite(descriptor, begin.data(), sizeof begin, 0) != sizeof begin)
    throw Error("cannot write to " + shared_folder(), errno);
}

std::size_t Writers::place_of(const io::FileIdentity& file) {
  return Hash()(DatasetKey{file, {0, file.device}, 0}) % kPlaces;
}

// First the lock, then the number: who sees the number as it was sees the lock, or has looked
// before anything was written.
Writers::Process Writers::begin(const io::FileIdentity& file) {
  const std::size_t place = place_of(file);
  const std::lock_guard lock(mutex_);
  if (own_[place]++ == 0) lock_byte(file_.get(), static_cast<off_t>(place), F_RDLCK);
  table_->changes[place].fetch_add(1);
  return process_;
}

void Writers::end(const io::FileIdentity& file, Process begun) noexcept {
  const std::size_t place = place_of(file);
  const std::lock_guard lock(mutex_);
  if (begun != process_) return;
  table_->changes[place].fetch_add(1);
  if (--own_[place] == 0) lock_byte(file_.get(), static_cast<off_t>(place), F_UNLCK);
}

std::uint64_t Writers::number(const io::FileIdentity& file) const {
  return table_->first + table_->changes[place_of(file)].load();
}

std::optional<std::uint64_t> Writers::settled(const io::FileIdentity& file) const {
  const std::size_t place = place_of(file);
  const std::uint64_t now = number(file);
  const std::lock_guard lock(mutex_);
  if (own_[place] > 0 || is_locked(file_.get(), static_cast<off_t>(place))) return std::nullopt;
  return now;
}

// The parent's locks stay the parent's. Another thread may have had the mutex.
void Writers::begin_child() {
  file_.reopen();
  new (&mutex_) std::mutex;
  own_ = {};
  ++process_;
}

Writing::Writing(const io::FileIdentity& file) : file_(file) {
  static std::atomic<bool> fails{false};  // and would take as long each time
  if (fails) return;
  fails = error_of([&] {
            Writers& writers = Writers::get();
            begun_ = writers.begin(file_);
            in_ = &writers;
          }) != nullptr;
}

Writing::~Writing() {
  if (in_ != nullptr) in_->end(file_, begun_);
}

}  // namespace headrace::engine::cache

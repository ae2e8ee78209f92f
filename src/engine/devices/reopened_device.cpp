#include "engine/devices/reopened_device.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <list>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/error.hpp"

namespace headrace::engine {

// Leaked: files are used while the process exits.
struct ReopenedDevice::Open {
  std::mutex mutex;
  All devices;  // that was opened first first
  // The limit was near. What is closed leaves low numbers free, so a new one tells nothing then.
  bool scarce = false;
};

namespace {

// Descriptors that are left for others: the lowest free one is given out, so the number of a new
// one tells how many are in use.
constexpr rlim_t kLeft = 4;

// How many files the process may have open.
rlim_t most_files() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

bool is_near_limit(int descriptor) {
  return static_cast<rlim_t>(descriptor) + kLeft >= most_files();
}

}  // namespace

ReopenedDevice::Open& ReopenedDevice::open_ones() {
  static auto& open = *new Open;
  return open;
}

ReopenedDevice::ReopenedDevice(std::string path, bool writable)
    : path_(std::move(path)), writable_(writable) {
  open();
}

ReopenedDevice::ReopenedDevice(std::string path) : path_(std::move(path)), writable_(false) {}

ReopenedDevice::~ReopenedDevice() {
  Open& all = open_ones();
  const std::lock_guard lock(all.mutex);
  if (descriptor_ < 0) return;
  all.devices.erase(listed_);
  close_descriptor();
}

template <typename Action>
void ReopenedDevice::use(const Action& action) {
  while (true) {
    {
      const std::shared_lock lock(mutex_);
      if (descriptor_ >= 0) {
        used_.store(true, std::memory_order_relaxed);
        return action(*device_);
      }
    }
    open();
  }
}

void ReopenedDevice::open() {
  const std::unique_lock lock(mutex_);
  if (descriptor_ >= 0) return;
  const int flags = (writable_ ? O_RDWR : O_RDONLY) | O_CLOEXEC;
  descriptor_ = ::open(path_.c_str(), flags);
  if (descriptor_ < 0 && (errno == EMFILE || errno == ENFILE)) {
    close_others(kLeft);
    descriptor_ = ::open(path_.c_str(), flags);
  }
  if (descriptor_ < 0) {
    const int cause = errno;
    throw Error(path_ + " cannot be opened: " + std::strerror(cause), cause);
  }
  if (closed_) require(*closed_);
  device_ = posix_device(descriptor_, path_.c_str());
  leave_room(is_near_limit(descriptor_));
  Open& all = open_ones();
  const std::lock_guard listed(all.mutex);
  listed_ = all.devices.insert(all.devices.end(), this);
}

// Of the file that was closed: another one may have its name by now.
void ReopenedDevice::require(const FileIdentity& same) {
  if (identity_of(descriptor_) == same) return;
  close_descriptor();
  throw Error(path_ +
              " was replaced while it was closed, as the process has too many open files: raise "
              "the limit (ulimit -n)");
}

// By what the file is found again; the program may have changed its working folder, and others the
// file's name. False for a file without a name, which nobody finds.
bool ReopenedDevice::note_place() {
  struct stat status{};
  if (::fstat(descriptor_, &status) != 0 || status.st_nlink == 0) return false;
  std::error_code failed;
  const auto place =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor_), failed);
  if (!failed) path_ = place.string();
  closed_ = identity_of(descriptor_);
  return !failed;
}

// For the one that is being opened, and for a file that the program opens with it.
void ReopenedDevice::leave_room(bool near_limit) {
  constexpr std::size_t kForEach = 2;
  bool scarce = false;
  bool many = false;  // the program opens files without asking: half of them are for it
  {
    Open& all = open_ones();
    const std::lock_guard lock(all.mutex);
    if (near_limit) all.scarce = true;
    scarce = all.scarce;
    many = all.devices.size() >= most_files() / 2;
    if (all.devices.empty()) all.scarce = false;
  }
  if (scarce)
    close_others(near_limit ? kLeft : kForEach);
  else if (many)
    close_others(1);
}

void ReopenedDevice::close_descriptor() noexcept {
  device_.reset();
  const int descriptor = std::exchange(descriptor_, -1);
  if (descriptor >= 0 && ::close(descriptor) != 0 && failed_ == 0) failed_ = errno;
}

void ReopenedDevice::close_others(std::size_t count) {
  Open& all = open_ones();
  const std::lock_guard lock(all.mutex);
  for (std::size_t looked = 2 * all.devices.size(); count > 0 && looked > 0 && !all.devices.empty();
       --looked) {
    ReopenedDevice* const first = all.devices.front();
    const std::unique_lock own(first->mutex_, std::try_to_lock);  // who uses it keeps it
    if (!own.owns_lock() || first->used_.exchange(false, std::memory_order_relaxed) ||
        !first->note_place()) {
      all.devices.splice(all.devices.end(), all.devices, all.devices.begin());
      continue;
    }
    all.devices.pop_front();
    first->close_descriptor();
    --count;
  }
}

void ReopenedDevice::close() {
  {
    Open& all = open_ones();
    const std::lock_guard lock(all.mutex);
    if (descriptor_ >= 0) all.devices.erase(listed_);
    close_descriptor();
  }
  if (const int cause = std::exchange(failed_, 0); cause != 0)
    throw Error(path_ + " cannot be closed: " + std::strerror(cause), cause);
}

void ReopenedDevice::write(std::uint64_t offset,
                           std::span<const std::span<const std::byte>> pieces) {
  use([&](Device& device) { device.write(offset, pieces); });
}
void ReopenedDevice::read(std::uint64_t offset, std::span<std::byte> bytes) {
  use([&](Device& device) { device.read(offset, bytes); });
}
void ReopenedDevice::read_pieces(std::uint64_t offset,
                                 std::span<const std::span<std::byte>> pieces) {
  use([&](Device& device) { device.read_pieces(offset, pieces); });
}
void ReopenedDevice::sync() {
  use([](Device& device) { device.sync(); });
}
void ReopenedDevice::resize(std::uint64_t size) {
  use([&](Device& device) { device.resize(size); });
}

}  // namespace headrace::engine

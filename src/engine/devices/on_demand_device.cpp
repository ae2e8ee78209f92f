// Files that are open only while they are read: there may be more than a process may have open.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <mutex>
#include <utility>

#include "base/error.hpp"
#include "engine/device.hpp"

namespace headrace::engine {
namespace {

class OnDemand;

// Those that are open, the one that was opened first first. Leaked: files are read while the
// process exits.
struct Open {
  std::mutex mutex;
  std::deque<OnDemand*> devices;
};

Open& open_ones() {
  static auto& open = *new Open;
  return open;
}

// A part of what the process may have: the program opens files, too.
std::size_t most_open() {
  constexpr rlim_t kLeast = 4;
  constexpr rlim_t kMost = 1024;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kLeast;
  return std::clamp<rlim_t>(limit.rlim_cur / 4, kLeast, kMost);
}

class OnDemand final : public Device {
 public:
  explicit OnDemand(std::string path) : path_(std::move(path)) {}
  OnDemand(const OnDemand&) = delete;
  OnDemand& operator=(const OnDemand&) = delete;
  ~OnDemand() override {
    Open& open = open_ones();
    const std::lock_guard lock(open.mutex);
    std::erase(open.devices, this);
    close();
  }

  void read(std::uint64_t offset, std::span<std::byte> bytes) override {
    Open& open = open_ones();
    const std::lock_guard lock(open.mutex);
    if (descriptor_ < 0) {
      while (open.devices.size() >= most_open()) {
        open.devices.front()->close();
        open.devices.pop_front();
      }
      descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
      while (descriptor_ < 0 && errno == EMFILE && !open.devices.empty()) {
        open.devices.front()->close();
        open.devices.pop_front();
        descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
      }
      if (descriptor_ < 0) throw Error(path_ + " cannot be opened", errno);
      open.devices.push_back(this);
    }
    posix_device(descriptor_, path_.c_str())->read(offset, bytes);
  }
  void write(std::uint64_t /*offset*/, std::span<const std::span<const std::byte>>) override {
    throw Error(path_ + " is open for reading only", EBADF);
  }
  void sync() override {}
  void resize(std::uint64_t size) override { write(size, {}); }

 private:
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

  std::string path_;
  int descriptor_ = -1;
};

}  // namespace

std::unique_ptr<Device> on_demand_device(const std::string& path) {
  return std::make_unique<OnDemand>(path);
}

}  // namespace headrace::engine

#include "layers/fault/driver/disk.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <mutex>

#include "base/error.hpp"
#include "base/report/json.hpp"

namespace headrace::fault {
namespace {

[[noreturn]] void refuse(const char* what) {
  throw Error(std::string("layer fault cannot ") + what, errno);
}

// Calls a function of the pread family until all is done.
template <typename Byte, typename Call>
void transfer_all(std::span<Byte> bytes, std::uint64_t offset, const char* what, Call call) {
  while (!bytes.empty()) {
    const ssize_t done = call(bytes, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done == 0) errno = EIO;  // the file ends before what it was said to hold
    if (done <= 0) refuse(what);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
}

struct Disks {
  std::mutex mutex;
  std::vector<std::unique_ptr<Disk>> list;
};

// Leaked on purpose: HDF5 closes files while the process exits, after C++ statics are gone.
Disks& disks() {
  static auto* const instance = new Disks;
  return *instance;
}

std::string json_of(const std::vector<Kept>& kept) {
  std::string list;
  for (const Kept& one : kept)
    list += (list.empty() ? "[" : ",[") + std::to_string(one.change) + "," +
            std::to_string(one.bytes) + "]";
  return "[" + list + "]";
}

}  // namespace

Descriptor::Descriptor(const std::string& path)
    : descriptor_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
  if (descriptor_ < 0) refuse(("open file " + path + " to undo writes in it").c_str());
}

Descriptor::~Descriptor() { ::close(descriptor_); }

std::uint64_t Descriptor::size() const {
  struct stat status{};
  if (::fstat(descriptor_, &status) != 0) refuse("learn the size of a file");
  return static_cast<std::uint64_t>(status.st_size);
}

void Descriptor::read(std::uint64_t offset, std::span<std::byte> into) const {
  transfer_all(into, offset, "read what is about to be overwritten", [&](auto rest, off_t at) {
    return ::pread(descriptor_, rest.data(), rest.size(), at);
  });
}

void Descriptor::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  transfer_all(bytes, offset, "write what a power cut leaves", [&](auto rest, off_t at) {
    return ::pwrite(descriptor_, rest.data(), rest.size(), at);
  });
}

void Descriptor::resize(std::uint64_t size) {
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) refuse("set the size of a file");
}

bool Descriptor::is(const std::string& path) const {
  struct stat ours{};
  struct stat named{};
  return ::fstat(descriptor_, &ours) == 0 && ::stat(path.c_str(), &named) == 0 &&
         ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

Disk& acquire_disk(const std::string& path) {
  auto& [mutex, list] = disks();
  const std::lock_guard lock(mutex);
  auto found = std::ranges::find_if(list, [&](auto& disk) { return disk->file.is(path); });
  if (found == list.end()) found = list.insert(list.end(), std::make_unique<Disk>(path));
  ++(*found)->handles;
  return **found;
}

void release_disk(Disk& disk, bool sync) {
  auto& [mutex, list] = disks();
  const std::lock_guard lock(mutex);
  --disk.handles;
  if (disk.handles > 0) return;
  if (sync) disk.unsynced.forget();
  if (disk.unsynced.count() == 0)
    std::erase_if(list, [&](const auto& one) { return one.get() == &disk; });
}

void forget_disk(const std::string& path) {
  auto& [mutex, list] = disks();
  const std::lock_guard lock(mutex);
  for (const auto& disk : list)
    if (disk->file.is(path)) disk->unsynced.forget();
  std::erase_if(list, [&](const auto& disk) { return disk->handles == 0 && disk->file.is(path); });
}

std::string cut_all_disks(Outcome outcome, Random& random) {
  auto& [mutex, all] = disks();
  const std::lock_guard lock(mutex);
  std::string list;
  for (const auto& disk : all) {
    const std::size_t changes = disk->unsynced.count();
    const std::vector<Kept> kept = disk->unsynced.cut(outcome, random);
    list += list.empty() ? "" : ",";
    list += JsonObject()
                .text("file", disk->path)
                .number("changes", static_cast<long long>(changes))
                .raw("kept", json_of(kept))
                .str();
  }
  return "[" + list + "]";
}

}  // namespace headrace::fault

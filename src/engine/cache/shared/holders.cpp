#include "engine/cache/shared/holders.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>
#include <system_error>
#include <thread>

#include "base/error.hpp"

namespace headrace::engine::cache {
namespace {

constexpr const char* kHoldersFile = "holders-1";
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;
constexpr std::size_t kHolders = 1024;

struct Holder {
  std::uint32_t process = 0;  // none: 0
  std::uint32_t descriptor = 0;
};
using Table = std::array<Holder, kHolders>;

Error failed(const char* what) {
  return Error(std::string(what) + ": " + std::generic_category().message(errno), errno);
}

bool is_nameless(const struct stat& status) {
  return S_ISREG(status.st_mode) && status.st_uid == ::geteuid() && status.st_nlink == 0;
}

// None where the process is gone, or has something else by that number now.
OwnedDescriptor file_of(const Holder& holder) {
  const std::string path =
      "/proc/" + std::to_string(holder.process) + "/fd/" + std::to_string(holder.descriptor);
  struct stat status{};
  // To open what another process has is to be no act of its own, as it is of devices and pipes.
  if (::stat(path.c_str(), &status) != 0 || !is_nameless(status)) {
    if (errno == EACCES || errno == EPERM)
      throw Error("chunks are kept by process " + std::to_string(holder.process) +
                      ", which this one may not look into",
                  ErrorKind::conflict);
    return {};
  }
  OwnedDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  const bool is_ours = file.get() >= 0 && ::fcntl(file.get(), F_GET_SEALS) == kSeals;
  return is_ours ? std::move(file) : OwnedDescriptor();
}

OwnedDescriptor new_file(const std::function<void(int)>& fill) {
  OwnedDescriptor file(::memfd_create("headrace-chunks", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.get() < 0) throw failed("cannot make shared memory");
  fill(file.get());
  if (::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) throw failed("cannot seal shared memory");
  return file;
}

// The table, as long as nobody else may change it.
class Holders {
 public:
  Holders() : file_(open_private(shared_folder(), kHoldersFile, &make)) {
    constexpr auto kPatience = std::chrono::seconds(1);
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (!lock_byte(file_.get(), 0, F_WRLCK)) {
      if (std::chrono::steady_clock::now() > until)
        throw Error(shared_folder() + "/" + kHoldersFile + " stays locked", ErrorKind::busy);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (::pread(file_.get(), table_.data(), sizeof table_, 0) != sizeof table_)
      throw Error(shared_folder() + "/" + kHoldersFile + " is damaged", ErrorKind::corrupt);
  }

  // None where nobody has it.
  OwnedDescriptor find() {
    for (std::size_t i = 0; i < kHolders; ++i) {
      if (table_[i].process == 0) continue;
      if (OwnedDescriptor file = file_of(table_[i]); file.get() >= 0) return file;
      set(i, {});
    }
    return {};
  }

  // Where the table is full others reach the file through the processes that are in it.
  void add(int descriptor) {
    for (std::size_t i = 0; i < kHolders; ++i)
      if (table_[i].process == 0)
        return set(
            i, {static_cast<std::uint32_t>(::getpid()), static_cast<std::uint32_t>(descriptor)});
  }

 private:
  static void make(int descriptor) {
    reserve(descriptor, 0, sizeof(Table));
    if (::ftruncate(descriptor, sizeof(Table)) != 0) throw failed("cannot make a file");
  }

  void set(std::size_t i, Holder holder) {
    table_[i] = holder;
    if (::pwrite(file_.get(), &holder, sizeof holder, static_cast<off_t>(i * sizeof holder)) !=
        sizeof holder)
      throw failed("cannot write to the list of who has shared memory");
  }

  OwnedDescriptor file_;  // with the lock
  Table table_{};
};

}  // namespace

OwnedDescriptor open_held(const std::function<void(int)>& fill) {
  Holders holders;
  OwnedDescriptor file = holders.find();
  if (file.get() < 0) file = new_file(fill);
  holders.add(file.get());
  return file;
}

void note_holder(int descriptor) { Holders().add(descriptor); }

}  // namespace headrace::engine::cache

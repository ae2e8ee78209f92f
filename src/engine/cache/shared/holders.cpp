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
#include "base/process/size_signal.hpp"
#include "engine/cache/shared/layout.hpp"

namespace headrace::engine::cache {
namespace {

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

std::string folder_in_proc(const Holder& holder) {
  return "/proc/" + std::to_string(holder.process);
}

bool is_chunks(int descriptor) {
  std::uint64_t magic = 0;
  return ::fcntl(descriptor, F_GET_SEALS) == kSeals &&
         ::pread(descriptor, &magic, sizeof magic, 0) == sizeof magic && magic == kFileMagic;
}

// None where the process is gone, or has something else by that number now.
OwnedDescriptor file_of(const Holder& holder) {
  const std::string path = folder_in_proc(holder) + "/fd/" + std::to_string(holder.descriptor);
  struct stat status{};
  // To open what another process has is to be no act of its own, as it is of devices and pipes.
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 0)
    return {};
  OwnedDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  return file.get() >= 0 && is_chunks(file.get()) ? std::move(file) : OwnedDescriptor();
}

// Whether a process of this user is there that this one may not look into.
bool is_hidden(const Holder& holder) {
  struct stat status{};
  return ::stat(folder_in_proc(holder).c_str(), &status) == 0 && status.st_uid == ::geteuid() &&
         ::access((folder_in_proc(holder) + "/fd").c_str(), R_OK | X_OK) != 0;
}

OwnedDescriptor new_file(const std::function<void(int)>& fill) {
  OwnedDescriptor file(::memfd_create("headrace-chunks", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.get() < 0) throw failed("cannot make shared memory");
  fill(file.get());
  if (::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) throw failed("cannot seal shared memory");
  return file;
}

// Processes have their numbers in one namespace, and containers that share a folder one each.
std::string name() {
  struct stat status{};
  if (::stat("/proc/self/ns/pid", &status) != 0) throw failed("cannot look at /proc");
  return "holders-1-" + std::to_string(status.st_ino);
}

// The table, as long as nobody else may change it.
class Holders {
 public:
  Holders() : file_(open_private(shared_folder(), name(), &make)) {
    constexpr auto kPatience = std::chrono::seconds(1);
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (!lock_byte(file_.get(), 0, F_WRLCK)) {
      if (std::chrono::steady_clock::now() > until)
        throw Error(shared_folder() + "/" + name() + " stays locked", ErrorKind::busy);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (::pread(file_.get(), table_.data(), sizeof table_, 0) != sizeof table_)
      throw Error(shared_folder() + "/" + name() + " is damaged", ErrorKind::corrupt);
  }

  // None where nobody has it.
  OwnedDescriptor find() {
    const Holder* hidden = nullptr;
    for (std::size_t i = 0; i < kHolders; ++i) {
      if (table_[i].process == 0) continue;
      if (OwnedDescriptor file = file_of(table_[i]); file.get() >= 0) return file;
      if (is_hidden(table_[i]))
        hidden = &table_[i];
      else
        set(i, {});
    }
    if (hidden != nullptr)
      throw Error("chunks are kept by process " + std::to_string(hidden->process) +
                      ", which this one may not look into",
                  ErrorKind::conflict);
    return {};
  }

  // Where the table is full of living ones others reach the file through these.
  void add(int descriptor) {
    const Holder own{static_cast<std::uint32_t>(::getpid()),
                     static_cast<std::uint32_t>(descriptor)};
    for (const bool looks : {false, true})
      for (std::size_t i = 0; i < kHolders; ++i)
        if (table_[i].process == 0 || (looks && file_of(table_[i]).get() < 0)) return set(i, own);
  }

 private:
  static void make(int descriptor) {
    const NoSizeSignal no_signal;
    reserve(descriptor, 0, sizeof(Table));
    if (::ftruncate(descriptor, sizeof(Table)) != 0) throw failed("cannot make a file");
  }

  void set(std::size_t i, Holder holder) {
    const NoSizeSignal no_signal;
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

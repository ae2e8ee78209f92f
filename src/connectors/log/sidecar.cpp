#include "connectors/log/sidecar.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/error.hpp"

namespace headrace::log_layout {
namespace {

std::string folder_of(const std::string& file) { return file + ".headrace"; }

}  // namespace

Owner random_owner() {
  Owner owner{};
  if (::getrandom(owner.data(), owner.size(), 0) != static_cast<ssize_t>(owner.size()))
    throw Error("the system gives no random bytes", errno);
  return owner;
}

std::string log_path(const std::string& file, const Owner& owner) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string name;
  for (const std::byte byte : owner) {
    name += kDigits[std::to_integer<unsigned>(byte >> 4)];
    name += kDigits[std::to_integer<unsigned>(byte & std::byte{15})];
  }
  return folder_of(file) + "/" + name + ".log";
}

int open_log(const std::string& file, const Owner& owner) {
  std::error_code failure;
  std::filesystem::create_directory(folder_of(file), failure);
  const std::string path = log_path(file, owner);
  const int descriptor = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
  if (descriptor < 0) throw Error("log " + path + " cannot be made", errno);
  return descriptor;
}

void empty_log(int descriptor) {
  constexpr off_t kLeft = engine::log::kHeaderBytes + engine::log::kOwnerBytes;
  if (::ftruncate(descriptor, kLeft) != 0) throw Error("a log cannot be cut off", errno);
}

void remove_log(const std::string& file, const Owner& owner) {
  const std::string path = log_path(file, owner);
  if (::unlink(path.c_str()) != 0) throw Error("log " + path + " cannot be removed", errno);
  ::rmdir(folder_of(file).c_str());
}

void sync_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool done = descriptor >= 0 && ::fsync(descriptor) == 0;
  const int cause = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!done) throw Error(path + " cannot be synchronised with storage", cause);
}

void sync_names(const std::string& file) {
  sync_file(folder_of(file));
  sync_file(std::filesystem::path(file).parent_path());
}

}  // namespace headrace::log_layout

#include "store/lmdb/data_files.hpp"

#include <dirent.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <optional>
#include <vector>

namespace headrace::store {
namespace {

constexpr const char* kLock = "lock";
constexpr const char* kNew = "new-";  // what the folder of a session is called until it is locked

std::string words_of(std::uint64_t number) {
  std::array<char, 17> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number, 16).ptr;
  return {text.data(), end};
}

std::optional<std::uint64_t> number_of(std::string_view words) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), number, 16);
  if (error != std::errc() || end != words.data() + words.size()) return std::nullopt;
  return number;
}

// None where it is gone.
std::vector<std::string> names_in(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> all(::opendir(folder.c_str()), &::closedir);
  if (all == nullptr && errno == ENOENT) return {};
  if (all == nullptr) throw file_error(folder + " cannot be read");
  std::vector<std::string> names;
  while (const dirent* const one = ::readdir(all.get()))
    if (one->d_name[0] != '.') names.emplace_back(one->d_name);
  return names;
}

void write_all(const Descriptor& file, std::array<Bytes, 2> parts) {
  while (!parts[0].empty() || !parts[1].empty()) {
    std::array<iovec, 2> left{};
    std::ranges::transform(parts, left.begin(), [](Bytes part) {
      return iovec{const_cast<std::byte*>(part.data()), part.size()};
    });
    const ssize_t written = ::writev(file.get(), left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw file_error(file.path() + " cannot be written");
    auto done = static_cast<std::size_t>(written);
    for (Bytes& part : parts) {
      const std::size_t of_part = std::min(done, part.size());
      part = part.subspan(of_part);
      done -= of_part;
    }
  }
}

// Of a process that was killed before it had locked it.
bool is_left_over(const std::string& folder) {
  constexpr long kLong = 3600;  // seconds
  struct stat status{};
  return ::stat(folder.c_str(), &status) == 0 && ::time(nullptr) - status.st_mtime > kLong;
}

// Whether its process is gone, or has forgotten it: nobody names files there any more.
bool has_ended(const std::string& folder) {
  try {
    const Descriptor lock(folder + "/" + kLock, O_RDWR | O_NOFOLLOW);
    return ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0;
  } catch (const Error& error) {
    return error.kind() == ErrorKind::not_found;  // whoever collects erases the lock last but one
  }
}

// Erases a folder that has nothing but its lock.
void erase_session(const std::string& folder) {
  ::unlink((folder + "/" + kLock).c_str());
  ::rmdir(folder.c_str());
}

}  // namespace

void sync_folder(const std::string& folder) {
  const Descriptor opened(folder, O_RDONLY | O_DIRECTORY);
  if (::fsync(opened.get()) != 0) throw file_error(folder + " cannot be written to the disk");
}

DataFiles::DataFiles(std::string folder, bool synced)
    : folder_(std::move(folder)), synced_(synced) {}

DataFiles::~DataFiles() {
  if (lock_ >= 0) ::close(lock_);
}

// Made under another name, so that none is seen without its lock.
void DataFiles::begin_session() {
  std::uint64_t session = 0;
  if (::getrandom(&session, sizeof session, 0) != sizeof session)
    throw file_error("no random number for a session of " + folder_);
  const std::string made = folder_ + "/" + kNew + words_of(session);
  const std::string path = made + "/" + kLock;
  int lock = -1;
  try {
    if (::mkdir(made.c_str(), 0700) != 0) throw file_error(made + " cannot be made");
    lock = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (lock < 0) throw file_error(path + " cannot be made");
    if (::flock(lock, LOCK_EX | LOCK_NB) != 0) throw file_error(path + " cannot be locked");
    if (::rename(made.c_str(), (folder_ + "/" + words_of(session)).c_str()) != 0)
      throw file_error(made + " cannot be renamed");
    if (synced_) sync_folder(folder_);
  } catch (const Error&) {
    if (lock >= 0) ::close(lock);
    erase_session(made);
    erase_session(folder_ + "/" + words_of(session));
    throw;
  }
  session_ = session;
  lock_ = lock;
}

std::string DataFiles::path_of(DataFile file) const {
  return folder_ + "/" + words_of(file.session) + "/" + words_of(file.number);
}

DataFile DataFiles::write(Bytes front, Bytes rest, std::unique_ptr<Descriptor>& written) {
  DataFile made;
  {
    const std::scoped_lock lock(mutex_);
    if (lock_ < 0) begin_session();
    made = {session_, ++made_};
  }
  const std::string path = path_of(made);
  auto file =
      std::make_unique<Descriptor>(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode_t{0600});
  try {
    write_all(*file, {front, rest});
  } catch (const Error&) {
    ::unlink(path.c_str());
    throw;
  }
  // It begins now, beside what is written next.
  if (synced_) ::sync_file_range(file->get(), 0, 0, SYNC_FILE_RANGE_WRITE);
  if (synced_) written = std::move(file);
  return made;
}

void DataFiles::sync(const Descriptor& written) const {
  if (::fdatasync(written.get()) != 0)
    throw file_error(written.path() + " cannot be written to the disk");
}

void DataFiles::sync_names() {
  std::string folder;
  {
    const std::scoped_lock lock(mutex_);
    if (!synced_ || lock_ < 0) return;
    folder = folder_ + "/" + words_of(session_);
  }
  sync_folder(folder);
}

bool DataFiles::read(DataFile file, std::uint64_t offset, std::span<std::byte> bytes) const {
  const std::string path = path_of(file);
  const int opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (opened < 0 && errno == ENOENT) return false;
  if (opened < 0) throw file_error(path + " cannot be read");
  ssize_t got = 0;
  for (; !bytes.empty(); bytes = bytes.subspan(static_cast<std::size_t>(got))) {
    got = ::pread(opened, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got <= 0) break;
    offset += static_cast<std::uint64_t>(got);
  }
  const int cause = errno;
  ::close(opened);
  if (got < 0) throw file_error(path + " cannot be read", cause);
  if (!bytes.empty()) throw Error(path + " is cut off", ErrorKind::corrupt);
  return true;
}

void DataFiles::erase(DataFile file) const noexcept { ::unlink(path_of(file).c_str()); }

LeftOver DataFiles::collect(Collect how, const std::function<void()>& begin,
                            const std::function<bool(DataFile)>& is_named) const {
  std::vector<DataFile> files;
  std::vector<std::string> ended;
  for (const std::string& name : names_in(folder_)) {
    const auto session = number_of(name);
    const std::string folder = folder_ + "/" + name;
    if (!session && !is_left_over(folder)) continue;
    if (!has_ended(folder)) continue;
    ended.push_back(folder);
    if (!session) continue;
    for (const std::string& one : names_in(folder))
      if (const auto number = number_of(one)) files.push_back({*session, *number});
  }
  begin();
  LeftOver left;
  for (const DataFile file : files) {
    if (is_named(file)) continue;
    struct stat status{};
    ++left.files;
    if (::stat(path_of(file).c_str(), &status) == 0)
      left.bytes += static_cast<std::uint64_t>(status.st_size);
    if (how == Collect::erase) erase(file);
  }
  if (how == Collect::tell) return left;
  for (const std::string& folder : ended) {
    const auto names = names_in(folder);
    if (names.empty() || (names.size() == 1 && names.front() == kLock)) erase_session(folder);
  }
  return left;
}

}  // namespace headrace::store

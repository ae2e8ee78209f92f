#include "sidecar/container_stub.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <filesystem>

#include "base/error.hpp"
#include "base/unique_id.hpp"
#include "sidecar/copy_file.hpp"

namespace headrace::sidecar {
namespace {

// What follows HDF5's signature is no version of a superblock.
constexpr std::string_view kContainerBegin = "\x89HDF\r\n\x1a\n\ncontainer=";
constexpr std::string_view kStoreKey = "store=";
constexpr std::string_view kMadeKey = "made=";
constexpr std::string_view kInodeKey = "inode=";
constexpr std::size_t kMostText = std::size_t{5} * PATH_MAX;  // two paths escaped, and more

// A path in one line.
std::string escaped(std::string_view path) {
  std::string text;
  for (const char c : path) {
    if (c == '\n' || c == '\\') text += '\\';
    text += c == '\n' ? 'n' : c;
  }
  return text;
}

std::string unescaped(std::string_view text) {
  std::string path;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escaped = text[i] == '\\' && i + 1 < text.size();
    if (is_escaped) ++i;
    path += is_escaped && text[i] == 'n' ? '\n' : text[i];
  }
  return path;
}

// What a line says that begins with `key`; none where the next line is another one.
std::optional<std::string> take_line(std::string_view& text, std::string_view key) {
  const std::size_t end = text.find('\n', key.size());
  if (!text.starts_with(key) || end == std::string_view::npos) return std::nullopt;
  std::string value(text.substr(key.size(), end - key.size()));
  text.remove_prefix(end + 1);
  return value;
}

struct Head {
  std::string text;
  std::uint64_t inode = 0;
};

// Empty for what is no stub, as most files that a program opens, and for what cannot be read: HDF5
// tells why.
Head head_of(const std::string& path) try {
  const Descriptor file(path, O_RDONLY | O_NONBLOCK);  // a pipe would wait for its writer
  std::array<char, kContainerBegin.size()> begin{};
  const ssize_t begun = ::pread(file.get(), begin.data(), begin.size(), 0);
  if (begun != std::ssize(begin) || !is_container_stub({begin.data(), begin.size()})) return {};
  Head head{std::string(kMostText, '\0'), file.status().st_ino};
  const ssize_t size = ::pread(file.get(), head.text.data(), head.text.size(), 0);
  head.text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return head;
} catch (const Error&) {
  return {};
}

// As HDF5 holds what it has open; file systems without locks have none.
void lock(const Descriptor& file, int how) {
  if (::flock(file.get(), how | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw file_error("unable to lock file " + file.path() + ", which is open");
}

std::string text_of(const std::string& path, const ContainerStub& stub, std::uint64_t inode) {
  const std::filesystem::path absolute = std::filesystem::absolute(path).lexically_normal();
  std::string text(kContainerBegin);
  text.append(stub.container).append("\n");
  text.append(kStoreKey).append(escaped(stub.store)).append("\n");
  text.append(kMadeKey).append(escaped(absolute.native())).append("\n");
  text.append(kInodeKey).append(std::to_string(inode)).append("\n");
  text.append(absolute.filename());
  text.append(" is the name of a container in this store, not an HDF5 file.\n");
  text.append("headrace run --stack 'object(store=").append(stub.store);
  text.append(")' -- PROGRAM   lets a program read and write it.\n");
  return text;
}

}  // namespace

bool is_container_stub(std::string_view head) { return head.starts_with(kContainerBegin); }

std::optional<ContainerStub> read_container_stub(const std::string& path) {
  const Head head = head_of(path);
  if (!is_container_stub(head.text)) return std::nullopt;
  std::string_view text(head.text);
  const auto container = take_line(text, kContainerBegin);
  const auto store = take_line(text, kStoreKey);
  const auto made = take_line(text, kMadeKey);
  const auto inode = take_line(text, kInodeKey);
  if (!container || !is_unique_id(*container) || !store || !made || !inode)
    throw Error("the stub " + path + " is damaged", ErrorKind::corrupt);
  return ContainerStub{*container, unescaped(*store), unescaped(*made),
                       *inode == std::to_string(head.inode)};
}

void require_only_name(const ContainerStub& stub, const std::string& path) {
  if (stub.is_original) return;
  const auto other = read_container_stub(stub.made);
  if (other && other->is_original && other->container == stub.container)
    throw Error(path + " is a copy of the stub " + stub.made +
                    ", and leads to what that one leads to: it can be read only. headrace object "
                    "cp makes a copy of what is in it",
                EACCES);
}

std::shared_ptr<const Descriptor> hold_container_stub(const std::string& path, bool writes) {
  auto file = std::make_shared<const Descriptor>(path, writes ? O_RDWR : O_RDONLY);
  lock(*file, LOCK_SH);
  return file;
}

std::shared_ptr<const Descriptor> take_container_stub(const std::string& path) {
  auto file = std::make_shared<const Descriptor>(path, O_RDONLY);
  lock(*file, LOCK_EX);
  // Where there are no locks nobody knows who has it open.
  if (::flock(file->get(), LOCK_EX | LOCK_NB) != 0)
    throw file_error("the stub " + path + " cannot be locked");
  return file;
}

void write_container_stub(const std::string& path, const ContainerStub& stub, Existing existing) {
  constexpr mode_t kMode = 0666;
  const int flags = existing == Existing::kept ? O_EXCL : 0;
  const Descriptor file(path, O_WRONLY | O_CREAT | flags, kMode);
  lock(file, LOCK_EX);
  const std::string text = text_of(path, stub, file.status().st_ino);
  if (::ftruncate(file.get(), 0) != 0 ||
      ::pwrite(file.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    throw file_error("the stub " + path + " cannot be written");
}

void remove_container_stub(const std::string& path) {
  const Descriptor file(path, O_WRONLY);
  lock(file, LOCK_EX);
  if (::unlink(path.c_str()) != 0) throw file_error("the stub " + path + " cannot be removed");
}

}  // namespace headrace::sidecar

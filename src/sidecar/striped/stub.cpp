#include "sidecar/striped/stub.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"
#include "base/unique_id.hpp"
#include "sidecar/container_stub.hpp"
#include "sidecar/copy_file.hpp"

namespace headrace::sidecar {
namespace {

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
// Programs such as netCDF look for the signature by themselves. What follows it here is no version
// of a superblock, so plain HDF5 refuses the file.
constexpr std::string_view kTextBegin = "\x89HDF\r\n\x1a\n\n";
// Then the number in the names of its pieces: a stub that is copied over another one must not be
// taken for that.
constexpr std::string_view kNumber = "set=";
constexpr std::size_t kMostDigits = 20;
// Then what no other set has, as the system uses numbers again.
constexpr std::string_view kIdKey = "id=";
constexpr std::string_view kMade = "made=";
constexpr std::string_view kDriver = "Subfilin";
constexpr std::size_t kSuperblock = 48;  // bytes: version 2 and 3 have no more
constexpr std::size_t kHeader = 4096;    // bytes in which the driver's name is looked for
// HDF5's subfiling writes metadata over the text. Some of these lines are left, which no file has
// that took the stub's place.
constexpr std::string_view kLine = "(headrace: a file in pieces)\n";
constexpr std::uint64_t kFarthest = std::uint64_t{64} << 20U;  // a user block's end

// What a line says that begins with `key`; takes it off the text. Empty for another line.
std::string_view take_line(std::string_view& text, std::string_view key) {
  const std::size_t end = text.find('\n');
  if (!text.starts_with(key) || end == std::string_view::npos) return {};
  const std::string_view value = text.substr(key.size(), end - key.size());
  text.remove_prefix(end + 1);
  return value;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= kMostDigits &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The lines after the begin of the text; what they do not tell stays empty.
void read_identity(std::string_view text, Stub& stub) {
  text.remove_prefix(kTextBegin.size());
  if (const auto number = take_line(text, kNumber); is_number(number)) stub.number = number;
  if (const auto id = take_line(text, kIdKey); is_unique_id(id)) stub.id = id;
  stub.made = take_line(text, kMade);
}

}  // namespace

Stub read_stub(const std::string& path) {
  const Descriptor file(path, O_RDONLY | O_CLOEXEC);
  const struct stat status = file.status();
  const auto size = static_cast<std::uint64_t>(status.st_size);
  Stub stub;
  stub.inode = status.st_ino;
  if (size == 0) stub.kind = Stub::Kind::empty;
  const auto storage = engine::io::posix_file(file.get(), path.c_str());
  for (std::uint64_t at = 0; at < std::min(size, kFarthest); at = at == 0 ? 512 : 2 * at) {
    std::string head(std::min<std::uint64_t>(kHeader, size - at), '\0');
    storage->read(at, std::as_writable_bytes(std::span(head)));
    if (at == 0 && is_container_stub(head)) break;  // the layer object's
    if (at == 0 && head.starts_with(kTextBegin)) {
      stub.kind = Stub::Kind::text;
      read_identity(head, stub);
      break;
    }
    if (!head.starts_with(kSignature)) continue;
    stub.kind = Stub::Kind::superblock;
    stub.names_subfiling = head.find(kDriver) != std::string::npos;
    stub.superblock_at = at;
    stub.superblock = head.substr(0, kSuperblock);
    std::string text(std::min<std::uint64_t>(kStubText, size), '\0');
    storage->read(0, std::as_writable_bytes(std::span(text)));
    stub.was_text = text.find(kLine) != std::string::npos;
    break;
  }
  return stub;
}

void write_stub(const std::string& path, const engine::StripeLayout& layout,
                const std::string& number, const std::string& id) {
  const std::string name = std::filesystem::path(path).filename();
  std::string text(kTextBegin);
  text.append(kNumber).append(number).append("\n");
  if (!id.empty()) text.append(kIdKey).append(id).append("\n");
  text.append(kMade).append(path).append("\n");
  text.append(name).append(" is a file in ").append(std::to_string(layout.count));
  text.append(" pieces, with stripes of ").append(std::to_string(layout.stripe));
  text.append(" bytes, which lie beside it as HDF5's subfiling writes them.\nheadrace fuse ");
  text.append(name).append("   makes one HDF5 file of them.\n");
  text.append("headrace run --stack stripe -- PROGRAM   lets a program read and write them.\n");
  text.append("HDF5's own subfiling driver reads them as they are.\n");
  while (text.size() < kStubText) text.append(kLine);
  const Descriptor file(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
  const auto bytes = std::as_bytes(std::span(text));
  engine::io::posix_file(file.get(), path.c_str())->write(0, {&bytes, 1});
}

}  // namespace headrace::sidecar

// What worker threads read and write: the bytes of an open file, without HDF5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace headrace::engine::io {

// How many bytes the pieces have.
template <typename Byte>
std::uint64_t total(std::span<const std::span<Byte>> pieces) {
  std::uint64_t bytes = 0;
  for (const std::span<Byte> piece : pieces) bytes += piece.size();
  return bytes;
}

// All functions may be called from any thread, several at a time; the order of calls that overlap
// in bytes is the caller's care. They throw Error, which names the file and carries an errno.
class File {
 public:
  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  virtual ~File() = default;

  // Writes the pieces one after the other, all of them, from `offset` in bytes on.
  virtual void write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) = 0;
  // Fills `bytes` from `offset` on; with zeros beyond the end of the file.
  virtual void read(std::uint64_t offset, std::span<std::byte> bytes) = 0;
  // Fills the pieces one after the other, all of them, from `offset` on as read() does.
  virtual void read_pieces(std::uint64_t offset, std::span<const std::span<std::byte>> pieces) {
    for (const std::span<std::byte> piece : pieces) {
      read(offset, piece);
      offset += piece.size();
    }
  }
  // Returns when what was written before survives a crash of the machine.
  virtual void sync() = 0;
  virtual void resize(std::uint64_t size) = 0;
};

// A file open under `descriptor`, which stays the caller's and must outlive the result. `name` is
// for errors.
std::unique_ptr<File> posix_file(int descriptor, const char* name);

// An existing regular file, by a descriptor of its own; null when it cannot be opened for reading
// and writing.
std::unique_ptr<File> posix_file(const char* name);
// Is told why the file system does not take direct writes.
using Refused = std::function<void(const std::string&)>;

// The same, but whole aligned pages are written directly to storage, not through the system's page
// cache. Where that is refused, at once or at the first write, `refused` is told on the thread that
// met it, and all goes through the cache.
std::unique_ptr<File> direct_file(int descriptor, const char* name, const Refused& refused);

}  // namespace headrace::engine::io

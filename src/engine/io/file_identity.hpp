// A file as the system knows it, whatever it is called and however often it is open.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

namespace headrace::engine::io {

struct FileIdentity {
  // 0 of what is no file of the system: then the rest is a number that this process gives, and says
  // nothing to others.
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  // Tells the file from another one that gets its inode later; 0 where the file system has none.
  std::uint64_t generation = 0;

  auto operator<=>(const FileIdentity&) const = default;
  [[nodiscard]] bool is_shared() const { return device != 0; }
};

// Of an open file; none where the system does not tell. On any thread; two system calls.
std::optional<FileIdentity> identity_of(int descriptor);

}  // namespace headrace::engine::io

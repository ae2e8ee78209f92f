// What one of several ranks could not write of a file's metadata. HDF5 gives metadata to ranks to
// write for all, between two barriers, and a rank that is told of an error there does not come to
// the second: the others would wait for ever. So it is told later, and the bytes stay here until
// they are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headrace::engine {

class KeptWrites {
 public:
  [[nodiscard]] bool empty() const { return pieces_.empty(); }

  void keep(std::uint64_t address, std::span<const std::byte> bytes);
  // The file has these bytes now: they take the place of what is kept of them.
  void note_written(std::uint64_t address, std::span<const std::byte> bytes);
  // `bytes` are those of the file from `address` on; gets what is kept in place of them.
  void overlay(std::uint64_t address, std::span<std::byte> bytes) const;

  // Calls `write(address, bytes)` for each piece, in order; forgets those that it does not throw
  // for, and throws what it throws first.
  template <typename Write>
  void write_again(const Write& write) {
    while (!pieces_.empty()) {
      write(pieces_.front().address, std::span<const std::byte>(pieces_.front().bytes));
      pieces_.erase(pieces_.begin());
    }
  }

 private:
  struct Piece {
    std::uint64_t address;
    std::vector<std::byte> bytes;
  };
  std::vector<Piece> pieces_;  // a later one holds where two overlap
};

}  // namespace headrace::engine

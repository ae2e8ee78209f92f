// What one of several ranks could not write of a file's metadata. HDF5 gives metadata to ranks to
// write for all, between two barriers, and a rank that is told of an error there does not come to
// the second: the others would wait for ever. So it is told later, and reads the bytes from here
// until then. They are never written again: another rank may have written newer ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headrace::engine {

class KeptWrites {
 public:
  void keep(std::uint64_t address, std::span<const std::byte> bytes);
  // This rank has written these bytes: they take the place of what is kept of them.
  void note_written(std::uint64_t address, std::span<const std::byte> bytes);
  // `bytes` are those of the file from `address` on; gets what is kept in place of them.
  void overlay(std::uint64_t address, std::span<std::byte> bytes) const;

 private:
  struct Piece {
    std::uint64_t address;
    std::vector<std::byte> bytes;
  };
  std::vector<Piece> pieces_;  // a later one holds where two overlap
};

}  // namespace headrace::engine

// An open file of the fault driver, and what its two classes have in common.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "layers/fault/driver/disk.hpp"
#include "layers/fault/driver/inject.hpp"
#include "vfd/file.hpp"

namespace headrace::fault {

struct File : vfd::File {
  Plan* plan;
  std::string path;  // absolute
  int rank;
  Disk* disk;  // null unless unsynced changes of the file may be lost

  static File& of(H5FD_t* file) { return *reinterpret_cast<File*>(file); }
  [[nodiscard]] Operation operation(Op op) const { return {op, path, rank}; }
  [[nodiscard]] Operation transfer(Op op, H5FD_mem_t type, std::uint64_t offset,
                                   std::uint64_t length) const;
};

std::string absolute_path(const char* name);

// Fills in a file that has just been opened. Throws Error, for a power cut over mpio among others.
void attach(H5FD_t* file, Plan& plan, const char* name, unsigned flags, vfd::Over over);

// Call before what they name is done: its disk must be able to undo it.
void note_write(File& file, haddr_t offset, std::span<const std::span<const std::byte>> pieces);
void note_resize(File& file, std::uint64_t size);
void note_truncate(File& file);  // to what HDF5 has allocated

// How many changes have been noted; the argument of the next function.
std::uint64_t noted(const File& file);
// A flush or close that succeeded, and that began when the `before` first changes had been noted.
void note_flush(File& file, bool closing, std::uint64_t before);
void note_close(File& file);

}  // namespace headrace::fault

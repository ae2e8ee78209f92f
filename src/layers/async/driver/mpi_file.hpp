// An open file of the driver over mpio, on one rank, and all those of the process. Nothing here
// calls MPI or waits for another rank.
//
// A write behind the program that fails is kept, and told by the next flush or close of the file:
// what HDF5 does together with the other ranks has been done by then.
#pragma once

#include <sys/types.h>

#include <exception>

#include "layers/async/driver/write_behind.hpp"

namespace headrace::async {

struct MpiFile : OpenFile {
  // Staging is asked for, so this rank gives no raw data to MPI's collective writes. `staged` is
  // null on a rank that cannot stage: it writes at once.
  bool alone = false;
  std::exception_ptr failed;  // not told yet
  // By which handles of the same file are known.
  dev_t device = 0;
  ino_t inode = 0;

  static MpiFile& of(H5FD_t* file) { return *reinterpret_cast<MpiFile*>(file); }
};

// After the open on all ranks has succeeded. A rank that cannot stage says so in the log.
void begin_mpi_staging(MpiFile& file, const char* name, unsigned flags, const Options& options);
// Returns what is to be told when the file has been closed below.
std::exception_ptr end_mpi_staging(MpiFile& file);

// Writes what is staged, if anything is. False when something could not be written: it stays
// staged.
bool try_to_drain(MpiFile& file);
// The same for all files of the process. Throws what has failed, which is told by that.
void require_drained();
// From now on nothing is staged.
void stop_mpi_staging(MpiFile& file);
// Throws what has failed, once.
void tell_failure(MpiFile& file);
[[noreturn]] void refuse(const MpiFile& file);  // because try_to_drain() was false

// Counts a write that MPI makes, for the summary: its sizes as HDF5 gives them, or its selections.
void count_left(MpiFile& file, std::uint32_t count, const std::size_t sizes[]);
void count_left(MpiFile& file, std::size_t count, const hid_t file_spaces[],
                const std::size_t element_sizes[]);

// The pieces of a write: all staged when they are the program's, otherwise all written at once, by
// this rank alone. Throws Error.
void write_pieces(MpiFile& file, std::uint32_t count, const haddr_t addresses[],
                  const std::size_t sizes[], const void* const buffers[]);
// The same of selections; negative when HDF5 has told why not.
herr_t write_selected(MpiFile& file, std::uint32_t count, hid_t mem_spaces[], hid_t file_spaces[],
                      const haddr_t offsets[], std::size_t element_sizes[], const void* buffers[]);
// Stages a scalar write of raw data. False when it may not be staged.
bool stage(MpiFile& file, haddr_t address, std::span<const std::byte> bytes);

// Whether all kinds of a vector are raw data; a kind is that of all that follow when none does.
bool all_raw(std::uint32_t count, const H5FD_mem_t types[]);

// Of this process.
bool staging_over_mpi();
void drain_mpi_files();
void stop_staging_over_mpi();

}  // namespace headrace::async

// An open file of the driver: what is staged of it, and when nothing may be.
#pragma once

#include <optional>

#include "base/call_scope.hpp"
#include "engine/io/file_identity.hpp"
#include "engine/reading/background_reads.hpp"
#include "engine/reading/read_ahead.hpp"
#include "engine/staging/staged_file.hpp"
#include "engine/threads/thread_pool.hpp"
#include "layers/async/settings.hpp"
#include "vfd/file.hpp"

namespace headrace::async {

struct OpenFile : vfd::File {
  std::string name;
  // What the file may need and does not have yet: most small files are closed before.
  struct Later {
    AsyncOptions options;
    bool stages;      // at its first write
    bool reads;       // behind the program, at the first read that is worth it
    bool runs_ahead;  // when it has been read for a while
  };
  std::optional<Later> later;
  std::uint64_t seen = 0;  // bytes that were read before
  // Of a file that nothing is ever written to; the storage of others is with what is staged.
  std::unique_ptr<engine::io::File> storage;
  // None when the file below has no storage for workers, or nothing is written to it.
  std::unique_ptr<engine::StagedFile> staged;
  // None when nothing may be read ahead: somebody else may write to the file.
  std::unique_ptr<engine::ReadAhead> ahead;
  // None when there is no storage.
  std::unique_ptr<engine::BackgroundReads> background;
  std::optional<engine::WantedThreads> threads;  // while there is storage
  std::uint64_t read_behind = 0;                 // bytes
  // Writes go to the file below at once: another program follows them (SWMR), or this one has the
  // descriptor.
  bool synchronous = false;
  // Raw data does: the program knows where some of it lies.
  bool raw_at_once = false;
  engine::ReadAheadStatistics read_ahead;  // of what was read ahead before that
  // Bytes that went to the file below at once, and why.
  std::uint64_t left = 0;
  std::string_view left_for = "left_for_driver_below";

  static OpenFile& of(H5FD_t* file) { return *reinterpret_cast<OpenFile*>(file); }
};

// Finds out what may be staged and read ahead of a file that has just been opened with HDF5's
// `flags`, over sec2.
void begin(OpenFile& file, const char* name, unsigned flags, const AsyncOptions& options);
// To be called before a write: it is staged if it may be. Throws Error.
void stage_from_now(OpenFile& file);
// Staging alone, at once. Throws Error.
void begin_staging(OpenFile& file, const char* name, unsigned flags, const AsyncOptions& options,
                   vfd::Over over);

// Writes what is staged; stages and reads ahead nothing from then on. Throws Error, and then goes
// on staging.
void stop(OpenFile& file);

// The program is told where raw data lies in the file that HDF5 has given the number: what is
// staged of it is written, raw data goes to the file at once from now on, also when it is opened
// again, and nothing is read ahead. Where no file of ours has that number, as below another driver,
// the same holds for all of the process. Returns whether a file that may be written is among them.
// Throws Error, see stop().
bool write_raw_at_once(unsigned long file);

// The file that HDF5 has given the number, which is ours if HDF5 itself calls our driver; else
// null.
H5FD_t* driver_numbered(unsigned long file);

// The file as the system knows it; none where it does not.
std::optional<engine::io::FileIdentity> identity_of(const OpenFile& file);

// While it lives, get_handle of our driver tells the driver's file instead of a descriptor, and
// goes on staging: how the connector of the same layer finds that file, through what lies between
// them. On the application's thread.
struct FileInquiry : CallScope<FileInquiry> {
  OpenFile* found = nullptr;  // null while no driver of ours was asked
};

// Writes what is staged. Throws Error, whose first cause is that of the failed write.
void drain(OpenFile& file);

// Tells the statistics, for `headrace run --stats`, and forgets what is still staged.
void end(OpenFile& file);

// Whether raw data of that place in the file is in a device's memory, so that the driver below gets
// it as it is. Then what is staged of the place is in the file, and nothing of it is read ahead.
// Throws Error where it cannot be written.
bool left_for_memory(OpenFile& file, H5FD_mem_t type, haddr_t address, std::size_t size,
                     const void* buffer);

// Reads from what has been read ahead, the rest by the driver below, and goes on reading ahead.
using Reader = herr_t (*)(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, std::size_t, void*);
herr_t read(OpenFile& file, Reader below, H5FD_mem_t type, hid_t dxpl, haddr_t address,
            std::span<std::byte> bytes);

// Has bytes of the file read into memory that the program has lent (engine/threads/lending.hpp),
// while it goes on. False when they are not lent, or are to be read at once.
bool read_behind(OpenFile& file, haddr_t address, std::span<std::byte> bytes);

// Sets the size of the file below to the end of allocation, as sec2 does by itself when it has made
// all writes: `below` makes the driver below do it.
herr_t truncate(OpenFile& file, herr_t (*below)(H5FD_t*, hid_t, bool), hid_t dxpl, bool closing);

}  // namespace headrace::async

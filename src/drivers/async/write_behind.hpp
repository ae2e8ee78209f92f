// An open file of the driver: what is staged of it, and when nothing may be.
#pragma once

#include "base/settings.hpp"
#include "engine/staged_file.hpp"
#include "vfd/file.hpp"

namespace headrace::async {

struct OpenFile : vfd::File {
  std::string name;
  // None when the file below has no device for workers, or nothing is ever written to it.
  std::unique_ptr<engine::StagedFile> staged;
  // Writes go to the file below at once: another program follows them (SWMR), or this one has the
  // descriptor.
  bool synchronous = false;

  static OpenFile& of(H5FD_t* file) { return *reinterpret_cast<OpenFile*>(file); }
};

// Prepares staging for a file that has just been opened with HDF5's `flags`. Throws Error.
void begin_staging(OpenFile& file, const char* name, unsigned flags, const Options& options,
                   vfd::Over over = vfd::Over::sec2);

// Whether the bytes are a superblock that lets other processes read while the file is written: the
// only word that a driver gets of H5Fstart_swmr_write, wherever in the chain it is.
bool starts_swmr(const void* buffer, std::size_t size);

// Writes what is staged and stages nothing from then on. Throws Error, and then goes on staging.
void stop_staging(OpenFile& file);

// Writes what is staged. Throws Error, whose first cause is that of the failed write.
void drain(OpenFile& file);

// For `headrace run --stats`.
void tell_statistics(const OpenFile& file);

// Sets the size of the file below to the end of allocation, as sec2 does by itself when it has made
// all writes: `below` makes the driver below do it.
herr_t truncate(OpenFile& file, herr_t (*below)(H5FD_t*, hid_t, bool), hid_t dxpl, bool closing);

}  // namespace headrace::async

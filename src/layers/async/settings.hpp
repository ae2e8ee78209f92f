// The options of the async layer; its connector and its driver read them alike.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "base/settings/settings.hpp"

namespace headrace::async {

inline constexpr std::array kSettings{
    Setting{"seat", "HEADRACE_ASYNC_SEAT", Type::choice, "vol|vfd|both", "", "both",
            "Where the layer sits: above the native connector (vol: filters), below it (vfd: "
            "write-behind), or both."},
    Setting{"threads", "HEADRACE_ASYNC_THREADS", Type::integer, "", "", "0",
            "Worker threads of the process; 0 is one for each core it may use. Of files that ask "
            "for different numbers the largest holds while it is open."},
    Setting{"budget", "HEADRACE_ASYNC_BUDGET", Type::size, "", "bytes", "0",
            "Memory that staged data of all files may take before writes wait; 0 is an eighth of "
            "the memory that a process may have and at most 1GiB. Of files that ask for different "
            "ones the largest holds while it is open; below 512KiB nothing of the file is staged. "
            "Where none "
            "is given, large writes to fast storage are not staged before the file has 16MiB."},
    Setting{"flush_interval", "HEADRACE_ASYNC_FLUSH_INTERVAL", Type::duration, "", "", "1s",
            "Age at which the file's staged data is written even if more could be merged into it; "
            "0 writes nothing before it must."},
    Setting{"read_ahead", "HEADRACE_ASYNC_READ_AHEAD", Type::size, "", "bytes", "64MiB",
            "Memory for what is read ahead of the file's sequential readers on slow storage. All "
            "files together take no more than the largest of these. 0 reads nothing ahead."},
    Setting{
        "direct", "HEADRACE_ASYNC_DIRECT", Type::boolean, "", "", "false",
        "Write whole staged pages directly to storage (O_DIRECT), not through the system's page "
        "cache, where the file system can."},
    Setting{"filters", "HEADRACE_ASYNC_FILTERS", Type::boolean, "", "", "true",
            "Compress and decompress chunks on the worker threads."},
    Setting{"chunk_cache", "HEADRACE_ASYNC_CHUNK_CACHE", Type::size, "", "bytes", "256MiB",
            "Memory for decompressed chunks of the file's datasets; 0 keeps none. All files "
            "together take no more than the largest of these."},
    Setting{"mpi_staging", "HEADRACE_ASYNC_MPI_STAGING", Type::boolean, "", "", "false",
            "Write raw data of files over MPI behind the program; the same on all ranks. Other "
            "ranks may read, overwrite or delete it after the next H5Fflush only."},
};

// What the options of a file mean; sizes are in bytes.
struct AsyncOptions {
  // Throws Error for a malformed value.
  explicit AsyncOptions(const Options& given)
      : above(value_of(kSettings, "seat", given) != "vfd"),
        threads(static_cast<unsigned>(number_of(kSettings, "threads", given))),
        budget(number_of(kSettings, "budget", given)),
        flush_interval(number_of(kSettings, "flush_interval", given)),
        read_ahead(number_of(kSettings, "read_ahead", given)),
        direct(is_on(kSettings, "direct", given)),
        filters(is_on(kSettings, "filters", given)),
        chunk_cache(number_of(kSettings, "chunk_cache", given)),
        mpi_staging(is_on(kSettings, "mpi_staging", given)) {}

  bool above;  // the connector works; a driver does not know that
  unsigned threads;
  std::uint64_t budget;
  std::chrono::nanoseconds flush_interval;
  std::uint64_t read_ahead;
  bool direct;
  bool filters;
  std::uint64_t chunk_cache;
  bool mpi_staging;
};

}  // namespace headrace::async

// The options of the async layer; its connector and its driver read them alike.
#pragma once

#include <array>

#include "base/settings.hpp"

namespace headrace::async {

inline constexpr std::array kSettings{
    Setting{"seat", "HEADRACE_ASYNC_SEAT", Type::choice, "vol|vfd|both", "", "both",
            "Where the layer sits: above the native connector (vol: filters), below it (vfd: "
            "write-behind), or both."},
    Setting{"threads", "HEADRACE_ASYNC_THREADS", Type::integer, "", "", "0",
            "Worker threads of the process; 0 is one for each core it may use."},
    Setting{"budget", "HEADRACE_ASYNC_BUDGET", Type::size, "", "bytes", "0",
            "Memory that staged data of all files may take before writes wait; 0 is an eighth of "
            "the machine's memory and at most 1GiB. That of the file opened last holds; below "
            "512KiB nothing is staged."},
    Setting{"flush_interval", "HEADRACE_ASYNC_FLUSH_INTERVAL", Type::duration, "", "", "1s",
            "Age at which staged data is written even if more could be merged into it; 0 writes "
            "nothing before it must."},
    Setting{"filters", "HEADRACE_ASYNC_FILTERS", Type::boolean, "", "", "true",
            "Compress and decompress chunks on the worker threads."},
    Setting{"chunk_cache", "HEADRACE_ASYNC_CHUNK_CACHE", Type::size, "", "bytes", "256MiB",
            "Memory for decompressed chunks of all datasets; 0 keeps none."},
    Setting{"mpi_staging", "HEADRACE_ASYNC_MPI_STAGING", Type::boolean, "", "", "false",
            "Write raw data of files over MPI behind the program; the same on all ranks. Other "
            "ranks may read, overwrite or delete it after the next H5Fflush only."},
};

}  // namespace headrace::async

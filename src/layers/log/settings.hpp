// The options of the log layer, as users give them and parsed.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/settings/settings.hpp"

namespace headrace::log_layout {

inline constexpr std::array kSettings{
    Setting{"canonicalise", "HEADRACE_LOG_CANONICALISE", Type::choice, "close|background|later", "",
            "close",
            "When logged data is put in order in the file: at the latest when the program flushes "
            "or closes it (close); by a process of its own once it has been closed (background); "
            "or when `headrace replay` or a writer with this layer opens it (later)."},
    Setting{
        "path", "HEADRACE_LOG_PATH", Type::path, "", "", "",
        "A folder on the node's own storage for logs, which are beside their files without one. "
        "With canonicalise=later or background all writes are logged then, large ones, too, "
        "and the file gets them from there. Over MPI of ranks on one node only."},
    Setting{"bandwidth", "HEADRACE_LOG_BANDWIDTH", Type::size, "", "bytes a second", "0",
            "How much those write who put the log of an earlier program in order, copies of files "
            "included: the process of canonicalise=background, `headrace replay` and `headrace "
            "cache migrate`, and writers under the layer. 0 is no bound. Not where ranks do it "
            "together."},
    Setting{"budget", "HEADRACE_LOG_BUDGET", Type::size, "", "bytes", "64MiB",
            "Memory for the log: half for data that is not in it yet, an eighth for what tells "
            "where logged data belongs. When that eighth is used up, logged data is put in order "
            "(canonicalise=later or background: the file and the log are flushed)."},
    Setting{"sync", "HEADRACE_LOG_SYNC", Type::boolean, "", "", "false",
            "With canonicalise=later or background: a flush or close of the file returns when the "
            "log survives a "
            "power cut, not only a crash of the program."},
    Setting{"verify", "HEADRACE_LOG_VERIFY", Type::boolean, "", "", "false",
            "Read back and compare what the log of an earlier program has put in order, before "
            "that log is removed. Datasets with filters that may change values are not compared."},
    Setting{"recover", "HEADRACE_LOG_RECOVER", Type::boolean, "", "", "false",
            "Use the log of a program that did not close its file, too: what its flushes cover. "
            "`headrace recover` sets it."},
    Setting{"skip_missing", "HEADRACE_LOG_SKIP_MISSING", Type::boolean, "", "", "false",
            "Use what the log of an earlier program holds of the datasets that are still in the "
            "file, and drop the rest. `headrace replay --skip-missing` sets it."},
    Setting{
        "mpi_logs", "HEADRACE_LOG_MPI_LOGS", Type::choice, "none|rank|node", "", "none",
        "Of files over MPI that are open for writing: each rank appends what it writes to a log "
        "of its own, until all flush or close the file (rank), the logs of a node's ranks being "
        "one file (node), or HDF5 writes (none). Other ranks see logged writes after H5Fflush, as "
        "MPI demands, and not before. Ranks must be told alike."},
};

// When what the log holds is written to the datasets, the earliest first.
enum class Canonicalise { close, later, background };
// Of a file over MPI: whose logs a log file holds.
enum class LogsPer { none, rank, node };

struct LogOptions {
  LogOptions() = default;
  // Throws Error for a value that is none of its setting's.
  explicit LogOptions(const Options& options);

  Canonicalise canonicalise = Canonicalise::close;
  std::string path;
  std::uint64_t bandwidth = 0;  // bytes a second; 0 is no bound
  std::uint64_t budget = 0;     // in bytes
  bool sync = false;
  bool verify = false;
  bool recover = false;
  bool skip_missing = false;
  LogsPer mpi_logs = LogsPer::none;
};

}  // namespace headrace::log_layout

// Who may work on the logs beside a file: processes that put them in order lock the log that stands
// for all of them, and whoever opens the file for writing waits for that lock. When a process is
// killed, its lock is gone. No HDF5. Any thread.
#pragma once

#include <filesystem>
#include <string_view>

namespace headrace::sidecar {

// A copy of the file, beside the log that is put in order in it, has the log's name and one of
// these: the first one of a background process, the second one the folder of the copy's logs.
// `headrace replay` puts something of its own in between.
inline constexpr std::string_view kCopySuffix = ".h5";
inline constexpr std::string_view kCopysFolderSuffix = ".h5.headrace";

// Waits for an flock() lock. Returns whether the caller has it then: not every file system can give
// one.
bool lock_when_free(int descriptor, int operation);

// Whether a log of that name, which outlives its program, is the one whose lock counts for all logs
// of the file: the only one, or that of the first rank or node.
bool stands_for_all(std::string_view log);

// Removes the copies that killed processes have left beside a log. For who has locked the log: no
// other process works on a copy then.
void remove_copies(const std::filesystem::path& log);

}  // namespace headrace::sidecar

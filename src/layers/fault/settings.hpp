#pragma once

#include <array>

#include "base/settings/settings.hpp"

namespace headrace::fault {

inline constexpr std::array kSettings{
    Setting{"seat", "HEADRACE_FAULT_SEAT", Type::choice, "vol|vfd|both", "", "both",
            "Where the layer sits; faults happen below the native connector (vfd, both)."},
    Setting{"kind", "HEADRACE_FAULT_KIND", Type::choice, "none|error|short|delay|power_cut", "",
            "none", "What happens to the operations that are hit."},
    Setting{"op", "HEADRACE_FAULT_OP", Type::choice,
            "any|read|write|flush|truncate|open|close|delete", "", "write",
            "The operations that match."},
    Setting{
        "type", "HEADRACE_FAULT_TYPE", Type::choice, "any|metadata|raw", "", "any",
        "The data that matching reads and writes transfer; other than any, nothing else matches."},
    Setting{
        "file", "HEADRACE_FAULT_FILE", Type::string, "", "", "",
        "Pattern for the names of matching files, as in a shell; of whole paths if there is a / "
        "in it. Empty matches all."},
    Setting{"rank", "HEADRACE_FAULT_RANK", Type::string, "", "", "all",
            "The MPI rank that operations match on, or all."},
    Setting{"first", "HEADRACE_FAULT_FIRST", Type::integer, "", "", "1",
            "The matching operation that is hit first, counted from 1."},
    Setting{"count", "HEADRACE_FAULT_COUNT", Type::integer, "", "", "1",
            "How many operations are hit; 0 sets no limit."},
    Setting{"probability", "HEADRACE_FAULT_PROBABILITY", Type::integer, "", "per million", "0",
            "The chance of each matching operation from the first on; 0 hits them all."},
    Setting{"seed", "HEADRACE_FAULT_SEED", Type::integer, "", "", "1",
            "What all chance depends on: the same seed leads to the same faults."},
    Setting{"errno", "HEADRACE_FAULT_ERRNO", Type::choice,
            "EIO|ENOSPC|EDQUOT|EFBIG|EACCES|EPERM|EROFS|ENOENT|EEXIST|EBUSY|EAGAIN|EINTR|ENOMEM|"
            "ENXIO|EMFILE|ESTALE|ETIMEDOUT|EBADF|EINVAL",
            "", "EIO", "The system error that kinds error and short and a power cut give."},
    Setting{"part", "HEADRACE_FAULT_PART", Type::integer, "", "percent", "50",
            "How much of a short transfer is made, 0 to 99."},
    Setting{"delay", "HEADRACE_FAULT_DELAY", Type::duration, "", "", "10ms",
            "How long an operation waits with kind=delay."},
    Setting{"outcome", "HEADRACE_FAULT_OUTCOME", Type::choice, "lost|torn|reordered|mixed|kept", "",
            "lost", "What a power cut leaves of the changes since a file's last sync point."},
    Setting{
        "sync", "HEADRACE_FAULT_SYNC", Type::choice, "close|flush|none", "", "close",
        "What is a sync point: flushes and the last close of a file, flushes only, or nothing."},
    Setting{"then", "HEADRACE_FAULT_THEN", Type::choice, "exit|error", "", "exit",
            "After a power cut: end the process by SIGKILL, or fail every operation from then on."},
    Setting{"journal", "HEADRACE_FAULT_JOURNAL", Type::path, "", "", "",
            "File that one JSON line is appended to for each operation that is hit; empty writes "
            "none."},
};

}  // namespace headrace::fault

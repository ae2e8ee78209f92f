#pragma once

#include <array>

#include "base/settings/settings.hpp"

namespace headrace::stripe {

inline constexpr std::array kSettings{
    Setting{
        "seat", "HEADRACE_STRIPE_SEAT", Type::choice, "vfd|both", "", "both",
        "Where the layer sits: below the native connector only (vfd), or above it, too (both)."},
    Setting{"size", "HEADRACE_STRIPE_SIZE", Type::size, "", "bytes", "0",
            "Bytes of a new file that lie in one subfile before the next has its turn; 0 is "
            "H5FD_SUBFILING_STRIPE_SIZE, or 32MiB."},
    Setting{"files", "HEADRACE_STRIPE_FILES", Type::integer, "", "", "0",
            "Subfiles of a new file, as `per` counts them; 0 is H5FD_SUBFILING_IOC_PER_NODE, or "
            "one, and at least one in each of `dirs`."},
    Setting{"per", "HEADRACE_STRIPE_PER", Type::choice, "node|rank|total", "", "node",
            "What `files` counts: subfiles of each node, of each rank, or of a file in all."},
    Setting{"dirs", "HEADRACE_STRIPE_DIRS", Type::string, "", "", "",
            "Folders that the subfiles of new files lie in, in turn, separated by colons; empty is "
            "H5FD_SUBFILING_SUBFILE_PREFIX, or beside the file."},
    Setting{"local", "HEADRACE_STRIPE_LOCAL", Type::boolean, "", "", "false",
            "The folders in `dirs` are each node's own: over MPI each node has its share of a new "
            "file's subfiles, which ranks of other nodes read and write through one of its ranks."},
    Setting{"config_dir", "HEADRACE_STRIPE_CONFIG_DIR", Type::path, "", "", "",
            "Folder of sets' configurations; empty is H5FD_SUBFILING_CONFIG_FILE_PREFIX, or beside "
            "the file."},
    Setting{"fuse", "HEADRACE_STRIPE_FUSE", Type::choice, "later|close|background", "", "later",
            "When a file that was open for writing becomes one file again: before the close "
            "returns (close), after it by a process of its own (background), or by `headrace fuse` "
            "(later)."},
    Setting{"threads", "HEADRACE_STRIPE_THREADS", Type::integer, "", "", "0",
            "How many subfiles a process without other ranks reads or writes at a time, by worker "
            "threads, in transfers of 1 MiB or more; 0 is one for each disk that they lie on."},
    Setting{"aggregate", "HEADRACE_STRIPE_AGGREGATE", Type::choice, "none|node", "", "none",
            "Over MPI one rank of each node writes what its ranks give to collective writes, in "
            "pieces as large as they make together (node), or each rank its own (none)."},
    Setting{"aggregate_size", "HEADRACE_STRIPE_AGGREGATE_SIZE", Type::size, "", "bytes", "16MiB",
            "Shared memory of each rank for what it gives to one collective write with "
            "aggregate=node; what has no room there the rank writes itself."},
    Setting{"sync", "HEADRACE_STRIPE_SYNC", Type::boolean, "", "", "false",
            "A flush returns when what was written survives a crash of the machine, too."},
    Setting{"checksums", "HEADRACE_STRIPE_CHECKSUMS", Type::boolean, "", "", "false",
            "The last close of a file that was open for writing reads its subfiles once more and "
            "keeps checksums of them, which `headrace stripe verify` compares."},
};

}  // namespace headrace::stripe

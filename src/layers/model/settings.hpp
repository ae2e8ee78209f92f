#pragma once

#include <array>

#include "base/settings/settings.hpp"

namespace headrace::model {

inline constexpr std::array kSettings{
    Setting{"seat", "HEADRACE_MODEL_SEAT", Type::choice, "vol|vfd|both", "", "both",
            "Where the layer sits: above the native connector (vol), below it (vfd), or both. It "
            "counts and delays below."},
    Setting{"mode", "HEADRACE_MODEL_MODE", Type::choice, "count|predict|delay", "", "count",
            "Count requests, also predict their time on the modelled file system, or make each "
            "take as long as it would there."},
    Setting{"preset", "HEADRACE_MODEL_PRESET", Type::choice,
            "none|local-nvme|lustre-4|lustre-48|lustre-160|nfs|object-gateway", "", "lustre-4",
            "The file system that is modelled; `headrace-model presets` lists their numbers."},
    Setting{"servers", "HEADRACE_MODEL_SERVERS", Type::integer, "", "", "0",
            "Servers that the file system has; 0 is the preset's number."},
    Setting{"stripe_count", "HEADRACE_MODEL_STRIPE_COUNT", Type::integer, "", "", "0",
            "Servers that one file is spread over; 0 is the preset's number."},
    Setting{"stripe_size", "HEADRACE_MODEL_STRIPE_SIZE", Type::size, "", "bytes", "0",
            "Bytes of a file that lie on one server before the next has its turn; 0 is the "
            "preset's."},
    Setting{"latency", "HEADRACE_MODEL_LATENCY", Type::duration, "", "", "0",
            "Time that each piece of a request keeps its server busy, beside that for its bytes; "
            "0 is the preset's."},
    Setting{"bandwidth", "HEADRACE_MODEL_BANDWIDTH", Type::size, "", "bytes a second", "0",
            "What one server moves in a second; 0 is the preset's."},
    Setting{"client_bandwidth", "HEADRACE_MODEL_CLIENT_BANDWIDTH", Type::size, "", "bytes a second",
            "0", "What one client's network moves in a second; 0 is the preset's."},
    Setting{"revocation", "HEADRACE_MODEL_REVOCATION", Type::duration, "", "", "0",
            "Time to take the lock of a stripe from another client; 0 is the preset's."},
    Setting{"ledger", "HEADRACE_MODEL_LEDGER", Type::path, "", "", "",
            "Folder that a ledger of all requests is written to for each file opened; empty writes "
            "none."},
    Setting{"summary", "HEADRACE_MODEL_SUMMARY", Type::path, "", "", "",
            "File that one JSON line is appended to for each file closed; empty writes none."},
    Setting{"shared", "HEADRACE_MODEL_SHARED", Type::path, "", "", "",
            "With mode delay: file through which the processes of a machine share the servers' "
            "queues; empty gives each process servers of its own."},
};

}  // namespace headrace::model

#pragma once

#include <array>

#include "base/settings/settings.hpp"
#include "layers/trace/recorder/recorder.hpp"

namespace headrace::trace {

inline constexpr std::array kSettings{
    Setting{"seat", "HEADRACE_TRACE_SEAT", Type::choice, "vol|vfd|both", "", "both",
            "Where the layer sits: above the native connector (vol), where it sees calls, below it "
            "(vfd), where it sees requests to the storage, or both."},
    Setting{"output", "HEADRACE_TRACE_OUTPUT", Type::path, "", "", "headrace.hrtrace",
            "Folder for the trace; each process writes a file of its own in it."},
    Setting{"level", "HEADRACE_TRACE_LEVEL", Type::choice, "all|profile", "", "all",
            "What is recorded: each call and request, or only sums of those that are alike "
            "(profile)."},
    Setting{"lines", "HEADRACE_TRACE_LINES", Type::boolean, "", "", "true",
            "Record the lines of Python that call."},
    Setting{"callers", "HEADRACE_TRACE_CALLERS", Type::boolean, "", "", "false",
            "Record the places in compiled programs that call, which costs one or two microseconds "
            "a call."},
    Setting{"arguments", "HEADRACE_TRACE_ARGUMENTS", Type::boolean, "", "", "false",
            "Record what each call was given, but no values of datasets and attributes, so that "
            "`headrace bench trace` can make it again; it costs some microseconds a call."},
    Setting{"anonymous", "HEADRACE_TRACE_ANONYMOUS", Type::boolean, "", "", "false",
            "Record hashes in place of the names of files, objects and the command's words."},
};

// Begins to record as the options say, unless this process does already; to be called for each
// file.
void start_recording(const Options& options);

}  // namespace headrace::trace

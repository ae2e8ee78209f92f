// The options of the log layer.
#pragma once

#include <array>

#include "base/settings.hpp"

namespace headrace::log_layout {

inline constexpr std::array kSettings{
    Setting{"canonicalise", "HEADRACE_LOG_CANONICALISE", Type::choice, "close|background|later", "",
            "close",
            "When logged data is put in order in the file: at the latest when the program flushes "
            "or closes it (close; background is the same for now), or when `headrace replay` or a "
            "writer with this layer opens it (later)."},
    Setting{"sync", "HEADRACE_LOG_SYNC", Type::boolean, "", "", "false",
            "With canonicalise=later: a flush or close of the file returns when the log survives a "
            "power cut, not only a crash of the program."},
    Setting{"verify", "HEADRACE_LOG_VERIFY", Type::boolean, "", "", "false",
            "Read back and compare what the log of an earlier program has put in order, before "
            "that log is removed. Datasets with filters that may change values are not compared."},
    Setting{"recover", "HEADRACE_LOG_RECOVER", Type::boolean, "", "", "false",
            "Use the log of a program that did not close its file, too: what its flushes cover. "
            "`headrace recover` sets it."},
};

}  // namespace headrace::log_layout

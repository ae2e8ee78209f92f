// Messages for people (HEADRACE_LOG_FILE), events for tools (HEADRACE_REPORT) and, at the end, what
// `headrace run` tells its user (HEADRACE_SUMMARY). The files are opened per line in append mode,
// so forked children and several processes may share one.
#pragma once

#include <string>
#include <string_view>

namespace headrace {

enum class Level { error, warning, info, debug };

// Appends a line to a file that is created when missing, by one write(): lines of several processes
// do not mix. A file that cannot be written gets nothing.
void append_line(const std::string& file, std::string line);

// Reads the global settings; called once, when the module is loaded. A malformed one counts as its
// default here: require_environment() tells of it.
void configure_log();

// Appends "time pid level message" to the log if the level is wanted. Never throws.
void log(Level level, std::string_view message) noexcept;

// True when a report is wanted, so that callers may skip building the line.
bool report_wanted() noexcept;

// Appends one line of JSON to the report. Never throws.
void report(std::string_view json) noexcept;

// The same for the summary (hdf5/report/summary.hpp).
bool summary_wanted() noexcept;
void summarise(std::string_view json) noexcept;

}  // namespace headrace

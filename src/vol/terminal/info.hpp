// The connector info of a terminal connector: its options, and nothing of a connector below.
#pragma once

#include <memory>
#include <string>

#include "base/settings/settings.hpp"
#include "hdf5/api.hpp"

namespace headrace::vol {

struct TerminalInfo {
  Options options;
  std::string error;  // what was wrong with the string: fails every file open and create, see Info
};

// Parses a connection string, which may be null. It may say that the native connector is below, as
// `headrace run` does for the last layer of a stack; any other connector there is an error.
std::unique_ptr<TerminalInfo> parse_terminal_info(const char* text, std::string_view layer,
                                                  std::span<const Setting> settings);

// The connection string, allocated by malloc() as HDF5 expects.
char* format_terminal_info(const TerminalInfo& info);

// Of a file access property list; those of an empty string where it has none. Throws
// TerminalInfo::error when there is one.
Options terminal_options_of(hid_t fapl, std::string_view layer, std::span<const Setting> settings);

}  // namespace headrace::vol

// What became of what the program wrote, for the line that `headrace run` says at its end. One line
// of JSON (docs/formats/report.md) is written when HDF5 ends; until then things are only counted,
// on the program's thread.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

namespace headrace {

// Of what a layer is for, in bytes or calls, whichever costs it nothing to count.
struct Share {
  std::uint64_t taken = 0;
  std::map<std::string_view, std::uint64_t> left;  // to HDF5, by the reason; names are literals
};

Share& share_of(std::string_view layer);  // the name is a literal

// A file has been opened through a connector of ours.
void count_file();

// The library bound here has started: when it ends it is asked for the files that it has opened in
// whatever way.
void watch_library();

// Writes what was counted, if a summary is wanted, and begins anew. The library has ended all
// files.
void write_summary();

}  // namespace headrace

// The state of a set (sidecar/striped/striped_set.hpp), which HDF5's subfiling does not know: lines
// of text in STUB.subfile_INODE.state beside the configuration, docs/formats/stripe.md. No HDF5.
// Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::sidecar {

struct SetState {
  bool closed = false;                   // false while somebody has the file open for writing
  std::uint64_t size = 0;                // of the file when it was closed, in bytes
  std::vector<std::uint32_t> checksums;  // CRC-32 of each subfile then, or none
  // Of the nodes whose own the subfiles are, by turns; none where all nodes reach all of them.
  std::vector<std::string> nodes;
};

// Nothing where the text is damaged: then the set is as one without a state.
std::optional<SetState> parse_set_state(std::string_view text);
std::string set_state_text(const SetState& state);

// Where the state of the set with that configuration lies.
std::string state_path_of(const std::string& config);

// Nothing where there is none, or none that can be read.
std::optional<SetState> read_set_state(const std::string& config);

// Written in place, as the folder may be nobody's to write to; `sync`: as to survive a crash of the
// machine. The opening of a set without a state in such a folder leaves it without, unless it has
// nodes. Throw Error.
void mark_open(const std::string& config, const std::vector<std::string>& nodes);
void mark_closed(const std::string& config, const SetState& state, bool sync);

// CRC-32 (as in zlib) of a file. Throws Error.
std::uint32_t checksum_of_file(const std::string& path);

}  // namespace headrace::sidecar

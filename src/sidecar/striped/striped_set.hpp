// A set: a file in pieces, as HDF5's subfiling lays it out (H5FDsubfile_int.c, HDF5 1.14 to 2.2). A
// stub has the file's name; beside it, or where its configuration says, lie the configuration
// STUB.subfile_INODE.config and the subfiles STUB.subfile_INODE_K_of_N, with the stub's inode and K
// from 1 on. No HDF5. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/stripes.hpp"
#include "sidecar/striped/set_state.hpp"

namespace headrace::sidecar {

struct StripedSet {
  std::string stub;
  std::string config;
  engine::StripeLayout layout;
  // What tells it from other sets whose stubs have had that inode; empty where HDF5's subfiling or
  // an older version has made it.
  std::string id;
  std::vector<std::string> subfiles;  // their paths, in order
  std::optional<SetState> state;
  std::vector<std::string> nodes;  // as in the state
  // As find_set() has seen them, unless there are nodes:
  std::vector<std::uint64_t> sizes;  // of the subfiles, in bytes
  std::size_t devices = 1;           // that they lie on, as the system counts them
  bool has_text = false;             // the stub is the layer's
  bool busy = false;                 // somebody makes one file of it
};

// The set of a stub; nothing for an ordinary file. `config_folder`: where the configuration is,
// empty for beside the stub. It is the one with the stub's id, and its inode or, for a set that was
// copied, its name. Subfiles are looked for beside the configuration first, so a set may
// be moved as a whole. Throws Error that names what is missing or does not fit: a subfile of a set
// that was closed must be as long as it was then. Subfiles of a set that has nodes are not looked
// at: they lie beside the stub, as links to what only their node reaches.
std::optional<StripedSet> find_set(const std::string& stub, const std::string& config_folder);

// Where a new set's pieces are to be: beside the stub where that is empty.
struct SetFolders {
  std::string config;
  std::vector<std::string> subfiles;  // by turns; links to them lie beside the stub then
  // The nodes by turns whose own those are, if any: make_set() makes links only.
  std::vector<std::string> nodes;
};

// Why a file cannot have so many pieces beside it, in words; empty where it can. Throws Error.
std::string why_no_set(const std::string& stub, std::uint32_t count);

// Makes a set of an empty file: subfiles without bytes, the configuration, and the text of the
// stub, which plain HDF5 refuses. What another set of the same stub has left is removed before.
// Throws Error.
StripedSet make_set(const std::string& stub, const engine::StripeLayout& layout,
                    const SetFolders& folders);

// Of a set that has nodes: makes a subfile that is on this one, without bytes. Throws Error.
void make_subfile_here(const StripedSet& set, std::uint32_t number);

// All of a set but its stub; the configuration first, so that no half of a set is found.
void remove_pieces(const StripedSet& set);
// What this node has of the subfiles that links of the set lead to. Throws Error.
void remove_subfiles_here(const std::string& config);

// Where make_set() would put the configuration: what is there is of an older set. Throws Error.
std::string config_of_new(const std::string& stub, const std::string& config_folder);
// What an older set has left there. One that cannot be read leaves its subfiles. Throws Error.
void remove_set_of(const std::string& stub, const std::string& config);

// Of a stub that was truncated: what was found before goes, unless it is that with the same
// configuration, in whose place another one is. Throws Error.
void remove_older_set(const StripedSet& older, const std::string& config);

// Before the first change: the set is open, and its stub has the layer's text once more, where
// HDF5's subfiling has written to it. Throws Error.
void begin_changing(const StripedSet& set);
// The text, whatever is there. Throws Error.
void write_text_of_stub(const StripedSet& set);

// In bytes. Throws Error.
std::uint64_t subfile_size(const StripedSet& set, std::uint32_t number);
std::vector<std::uint64_t> subfile_sizes(const StripedSet& set);
// Throws Error that names a subfile which has not the size that the set's state gives, if any.
void check_sizes(const StripedSet& set, const std::vector<std::uint64_t>& sizes);

}  // namespace headrace::sidecar

// Makes one HDF5 file of a set that nobody has open, in its place: a copy beside the stub, which is
// renamed once it is whole. Who is interrupted leaves the set as it was. Several processes may copy
// the subfiles, each its own. No HDF5. Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "sidecar/striped/striped_set.hpp"

namespace headrace::sidecar {

// The program in bin/ that does so behind another one.
inline constexpr const char* kFuseProgram = "headrace-fuse";

// Makes the copy, with the stub's owner, mode and attributes, as long as the file, and no bytes
// yet. Returns its path. Throws Error and leaves nothing.
std::string begin_fusion(const StripedSet& set, std::uint64_t size);

// Copies a subfile into it. The bytes are on the disk when it returns. Throws Error.
void fuse_subfile(const StripedSet& set, std::uint32_t number, const std::string& copy);

// Puts the copy in the stub's place. The pieces are of no use then. Throws Error.
void end_fusion(const StripedSet& set, const std::string& copy);
void abandon_fusion(const std::string& copy) noexcept;

// Begins to do all that in a process of its own. Throws Error where it cannot be started: the set
// stays as it is.
void start_background_fusion(const StripedSet& set);
// Returns when no such process is at work on a set, which may be no set any more.
void wait_for_fusion(const StripedSet& set) noexcept;

}  // namespace headrace::sidecar

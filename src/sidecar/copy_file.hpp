// Copying files.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <string>

#include "base/descriptor.hpp"
#include "base/throttle.hpp"

namespace headrace::sidecar {

// Throw Error when that fails.
void sync(const Descriptor& file);
void sync(const std::string& path);

// What is no hole of the first `size` bytes of a file: called with where each part begins and ends.
// Throws Error.
using Part = std::function<void(off_t begin, off_t end)>;
void for_each_part(const Descriptor& file, off_t size, const Part& part);
// Shares the blocks where the file system can. Throws Error.
void copy_range(const Descriptor& from, off_t at, const Descriptor& to, off_t put, off_t length);

// From one file to another one that is empty. Throws Error.
void copy_data(const Descriptor& from, const Descriptor& to, Throttle& throttle);  // with its holes
void copy_mode(const Descriptor& from, const Descriptor& to);
// What is made beside a file is for those whom the file is for: its mode, whatever the umask, and
// its owner where root makes it. What the file system does not let is left.
void open_to_those_of(const struct stat& file, const Descriptor& made) noexcept;
// All that says who may do what with it: its owner, mode, access lists; and its user's attributes.
void copy_identity(const Descriptor& from, const Descriptor& to);

}  // namespace headrace::sidecar

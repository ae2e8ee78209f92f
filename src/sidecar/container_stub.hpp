// The stub of a container (src/objects): the file that has its name. A text that plain HDF5
// refuses, behind HDF5's signature, which programs such as netCDF look for by themselves. No HDF5.
// Any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"

namespace headrace::sidecar {

struct ContainerStub {
  std::string container;  // its name in the store, an id
  std::string store;      // where that was, for messages
  std::string made;       // the stub's path when it was made
  // It is the file that was made then, whatever its path; else a copy.
  bool is_original = true;
};

// Whether a file that begins so is one.
bool is_container_stub(std::string_view head);
// None where there is no such file, or it is something else. Throws Error where it is damaged, or
// cannot be read.
std::optional<ContainerStub> read_container_stub(const std::string& path);
// Throws Error for a copy whose original is still where it was made: what a program would write to
// one name it would find under the other.
void require_only_name(const ContainerStub& stub, const std::string& path);

// A stub that a program has open: it keeps others from replacing or deleting it. Throws Error where
// it is being replaced or cannot be opened; `writes`: as a file to be written.
std::shared_ptr<const Descriptor> hold_container_stub(const std::string& path, bool writes);

// One that no program has open, until the last copy of this is gone. Throws Error.
std::shared_ptr<const Descriptor> take_container_stub(const std::string& path);

// Which files write_container_stub() may replace: none, or any.
enum class Existing { kept, replaced };
// Throws Error (conflict) where there is a file that is kept, and where a program has the file open
// by HDF5.
void write_container_stub(const std::string& path, const ContainerStub& stub, Existing existing);
// Removes it. Throws Error where a program has it open.
void remove_container_stub(const std::string& path);

}  // namespace headrace::sidecar

// A file of shared memory that has no name (memfd_create(2)), for containers whose /dev/shm is
// small. It is there as long as a process has it, and is reached through any of these, by /proc: a
// file in the shared folder says which they are. See docs/formats/chunks.md.
//
// Any thread. Errors are thrown as Error.
#pragma once

#include <functional>

#include "engine/cache/shared/folder.hpp"

namespace headrace::engine::cache {

// That of a living process; else a new one, filled by `fill(descriptor)`, whose size stays then.
// Others reach it through this process, too. An Error where a process has it that this one may not
// look into.
OwnedDescriptor open_held(const std::function<void(int)>& fill);

// Others reach the file through this process, by that descriptor: to be called after a fork.
void note_holder(int descriptor);

}  // namespace headrace::engine::cache

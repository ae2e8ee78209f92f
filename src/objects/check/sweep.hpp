// Erases what nothing leads to in a container. No program may have the container open: what a
// program has written and not linked yet looks like garbage.
#pragma once

#include <cstdint>
#include <string>

#include "objects/check/finding.hpp"
#include "store/store.hpp"

namespace headrace::objects {

struct Swept {
  std::uint64_t entries = 0;  // of tables
  std::uint64_t chunks = 0;
  std::uint64_t bytes = 0;  // of chunks
};

// Erases garbage, or only tells how much of it there is. Damage is told, and a container that has
// any is left as it is: what looks like garbage there may belong to what is damaged. A process that
// is killed here has erased some of the garbage, and nothing else. Throws Error.
Swept sweep(store::Store& store, const std::string& container, bool erases, const Tell& tell);

}  // namespace headrace::objects

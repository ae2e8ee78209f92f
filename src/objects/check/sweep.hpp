// Erasing what nothing leads to in a container. No program may have it open: what that has written
// and not linked yet looks like garbage.
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

// Erases garbage, or only tells how much there is. What is damaged is told, and nothing is erased
// then, as it might be what more lives in. Who is killed leaves less garbage. Throws Error.
Swept sweep(store::Store& store, const std::string& container, bool erases, const Tell& tell);

}  // namespace headrace::objects

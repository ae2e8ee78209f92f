// The containers of a store.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "objects/format/header.hpp"
#include "store/store.hpp"

namespace headrace::objects {

// Names, also of what is left of containers that are gone: by their tables, or their blobs only.
std::vector<std::string> containers_in(store::Store& store);

// Whether it is one: else something is left of it, or nothing.
bool is_container(store::Store& store, const std::string& name);

// The path that its stub had when it was opened for writing last; empty where none was noted.
std::string noted_stub(store::Store& store, const std::string& name);

// Its blobs.
struct Room {
  std::uint64_t chunks = 0;
  std::uint64_t heaps = 0;
  std::uint64_t bytes = 0;
};
Room room_of(store::Store& store, const std::string& name);

}  // namespace headrace::objects

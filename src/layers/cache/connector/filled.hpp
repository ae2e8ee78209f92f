// A chunk that this process has decoded. The program's thread only.
#pragma once

#include <cstddef>

#include "engine/cache/shared/shared_store.hpp"
#include "layers/cache/connector/node_disk.hpp"

namespace headrace::cache {

struct Filled {
  engine::cache::Key key;  // in memory
  engine::cache::Key on_disk;
  std::size_t bytes;
  engine::cache::SharedStore& store;
  NodeDisk* disk;  // where it is to be kept, too; may be null

  // Counts it, and has it kept on the disk.
  void note() const;
};

}  // namespace headrace::cache

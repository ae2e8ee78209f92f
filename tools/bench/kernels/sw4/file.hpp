// Files as SW4's rank 0 makes them, before all ranks open them.
#pragma once

#include "hdf5.hpp"
#include "kernels/sw4/grid.hpp"

namespace headrace::bench::sw4 {

struct Chunks {
  std::vector<hsize_t> shape;  // empty: contiguous
  unsigned gzip = 0;           // level
};

// Creates the file with all items and the groups they are in. Of one process.
void create_file(const std::string& path, const std::vector<Item>& items, const Cells& grid,
                 const Chunks& chunks, bool with_header);

}  // namespace headrace::bench::sw4

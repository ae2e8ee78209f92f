// HDF5 functions that a connector calls while the program is in none.
#pragma once

#include "hdf5/api.hpp"

namespace headrace {

// While it lives, the functions that forward callbacks may be called outside of every call of the
// program. On the program's thread only.
class LibraryContext {
 public:
  LibraryContext() {
    if (h5.open_context != nullptr)
      h5.open_context(&context_);
    else if (h5.start_state != nullptr)
      h5.start_state();
  }
  LibraryContext(const LibraryContext&) = delete;
  LibraryContext& operator=(const LibraryContext&) = delete;
  ~LibraryContext() {
    if (h5.close_context != nullptr)
      h5.close_context(context_);
    else if (h5.finish_state != nullptr)
      h5.finish_state();
  }

 private:
  void* context_ = nullptr;
};

}  // namespace headrace

// Who asks a driver for its descriptor (get_handle).
#pragma once

#include "hdf5/quiet_errors.hpp"

namespace headrace::vfd {

// Whether it is HDF5 by this list, and not the program: to see whether a symbolic link has led to
// the file. It reads and writes nothing by the descriptor.
inline bool is_hdf5s_question(hid_t fapl) {
  if (fapl == kDefaultPlist) return false;
  const PrivateErrors own;
  bool asks = false;
  return h5.Pget(fapl, "want_posix_fd", &asks) >= 0 && asks;  // H5F_ACS_WANT_POSIX_FD_NAME
}

}  // namespace headrace::vfd

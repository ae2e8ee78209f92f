#include "vol/transfer_list.hpp"

#include <cstdint>

namespace headrace::vol {

bool is_default(hid_t dxpl) { return dxpl == kDefaultPlist || dxpl == h5.transfer_list.get(); }

bool collective(hid_t dxpl) {
  int mode = 0;  // H5FD_MPIO_INDEPENDENT
  return !is_default(dxpl) && h5.Pget(dxpl, "io_xfer_mode", &mode) >= 0 && mode == 1;
}

void tell_independent(hid_t dxpl) {
  const int none = 0;             // H5D_MPIO_NO_COLLECTIVE, H5D_MPIO_NO_CHUNK_OPTIMIZATION
  const std::uint32_t asked = 1;  // H5D_MPIO_SET_INDEPENDENT
  if (is_default(dxpl)) return;
  h5.Pset(dxpl, "actual_io_mode", &none);
  h5.Pset(dxpl, "actual_chunk_opt_mode", &none);
  h5.Pset(dxpl, "local_no_collective_cause", &asked);
  h5.Pset(dxpl, "global_no_collective_cause", &asked);
}

}  // namespace headrace::vol

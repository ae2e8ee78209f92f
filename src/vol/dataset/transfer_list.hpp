// What a program's data transfer property list says, and is told, over MPI.
#pragma once

#include <cstdint>
#include <span>

#include "hdf5/api.hpp"

namespace headrace::vol {

// Whether nobody has set anything in it.
bool is_default(hid_t dxpl);
// Whether it is of calls that all ranks make together.
bool collective(hid_t dxpl);
// Tells the program in its own list what HDF5 does after a transfer that no other rank took part
// in.
void tell_independent(hid_t dxpl);

// One of the datasets that a call writes: what HDF5's answers depend on.
struct Written {
  bool chunked = false;
  bool filtered = false;
  bool converts = false;
  std::uint64_t elements = 0;   // that this rank writes
  std::uint64_t in_memory = 0;  // bytes of an element
  std::uint64_t in_file = 0;
  bool one_run = false;  // they lie in memory one after the other
};

// Tells the program in its own list what HDF5 says after such a write to a file over MPI. HDF5 asks
// the other ranks for some of it; this takes them to write as this one does.
void tell_written(hid_t dxpl, std::span<const Written> datasets);

}  // namespace headrace::vol

// The drivers that layers of ours have put into access property lists. The program's thread only.
#pragma once

#include <string>

#include "hdf5/api.hpp"

namespace headrace::vol {

struct PlacedDriver {
  std::string name;
  bool parallel;  // over MPI
};

// Null for a driver that none of ours has put into a list. HDF5 does not tell the name of a list's
// driver.
const PlacedDriver* placed_driver(hid_t driver);
void note_placed(hid_t driver, const PlacedDriver& as);

}  // namespace headrace::vol

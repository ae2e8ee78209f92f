// Datasets of which a program knows where their data lies in the file, because HDF5 has told it
// (vol/effects.def). It may read and write those bytes by itself at any later time, without a call,
// so connectors leave such datasets to HDF5 from then on.
//
// The application's thread only.
#pragma once

#include <cstdint>

#include "vol/object.hpp"

namespace headrace::vol {

// HDF5 is about to tell them of this dataset. It is remembered as long as the process lives, in
// whichever way the dataset is opened. Not for files that nobody writes to: what a connector holds
// of these is what is in them.
void note_addresses_told(const Object& dataset);

// What is kept with a handle of a dataset to ask that.
class AddressesTold {
 public:
  // Costs nothing while no addresses have been told.
  bool operator()(const Object& dataset);

 private:
  std::uint64_t asked_ = 0;  // how often addresses had been told then
  bool told_ = false;
};

}  // namespace headrace::vol

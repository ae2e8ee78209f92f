// Collective transfers over MPI, and what is made of them. The application's thread only.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hdf5/id.hpp"
#include "vol/dataset/transfer_list.hpp"

namespace headrace::stripe {

// A write of several datasets, as HDF5's callback has it. All are as long.
struct Transfers {
  std::vector<void*> datasets;  // vol::Object
  std::vector<hid_t> mem_types;
  std::vector<hid_t> mem_spaces;
  std::vector<hid_t> file_spaces;
  std::vector<const void*> buffers;

  void add(const Transfers& from, std::size_t i);
};

// Those to datasets with filters, and the others.
std::pair<Transfers, Transfers> parted(const Transfers& all);

// A copy of a collective transfer list whose transfers each rank makes by itself; none where the
// list is not collective. Throws Error.
Id<Kind::plist> independent(hid_t dxpl);

// The driver's connection string with the option by which it knows its connector.
std::string with_seat(const std::string& config);

}  // namespace headrace::stripe

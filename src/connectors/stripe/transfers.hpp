// Collective transfers over MPI, and what is made of them. The application's thread only.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hdf5/id.hpp"
#include "vol/dataset/transfer_list.hpp"
#include "vol/object.hpp"

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

// The transfer list for a call of the program's with `dxpl`: a copy of a collective one whose
// transfers each rank makes by itself, where this process has files in pieces open over MPI;
// else `dxpl`. HDF5 uses the list until the program's call returns, so the copy is kept with
// the file, until the next one. Throws Error.
hid_t independent(const vol::Object& dataset, hid_t dxpl);

// Of a file over MPI: finds its driver.
void note_opened(const vol::Object& file);
// Collective, where the file is in pieces. Throws Error on ranks whose own flush has not failed.
void agree_on_flush(const vol::UnderConnector& connector);

// The driver's connection string with the option by which it knows its connector.
std::string with_seat(const std::string& config);

}  // namespace headrace::stripe

// What our drivers hand to HDF5 as an open file, and the driver below it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/settings/settings.hpp"
#include "hdf5/id.hpp"
#include "hdf5/report/events.hpp"
#include "vfd/callbacks.hpp"

namespace headrace::vfd {

// HDF5 keeps its own fields in `pub`, so it comes first. Made by open, freed by close.
struct File {
  H5FD_t pub;
  // The MPI_File below, of a file over mpio. H5Fset_mpi_atomicity and H5Fget_mpi_atomicity take any
  // file of a driver over MPI for one of mpio's, which has its MPI_File (a pointer in every MPI's
  // binary interface) right here.
  void* mpi_file;
  H5FD_t* under;
  std::string config;  // the configuration string that it was opened with

  static H5FD_t* under_of(const H5FD_t* file) { return reinterpret_cast<const File*>(file)->under; }
};

// What a driver says of itself to this file.
struct Layer {
  std::string_view name;
  std::span<const Setting> settings;
  Over over;
  bool repeats;  // whether it may be below itself
};

// The options of the layer in a list's driver configuration string, or in that of an open file,
// checked. Throws Error.
Options options_of(hid_t fapl, const Layer& layer);
Options options_of(const File& file, const Layer& layer);

// The file access property list for the driver below: that of `fapl` with the driver that its
// configuration string names (under=, under_config=), by default the one the class is made for.
// Throws Error when the string is malformed or the driver cannot be loaded.
Id<Kind::plist> under_fapl(hid_t fapl, const Layer& layer);

// Opens the file below; `config`: the configuration string in the list. Returns null when HDF5
// failed, its records on the stack. Throws Error, as under_fapl() does.
H5FD_t* open_under(const char* name, unsigned flags, hid_t fapl, haddr_t maxaddr,
                   const std::string& config, const Layer& layer);

// The MPI_File of the mpio driver at the end of the chain, or null.
void* mpi_file_of(H5FD_t* under, hid_t fapl);

// The place of this process among those that opened the file below; negative numbers where that is
// not over MPI. Local, and no MPI function is called.
Rank rank_below(H5FD_t* under);
// The same for the report: none when none is wanted.
std::optional<Rank> rank_in(H5FD_t* under);

// Whether two files of ours are the same below, as HDF5 compares them.
int compare_under(const H5FD_t* a, const H5FD_t* b);

// The feature flags of an open file's driver.
herr_t query_under(const H5FD_t* under, unsigned long* flags);

// The feature flags of the driver that a class is made for, for queries without a file.
herr_t query_default(Over over, unsigned long* flags);

}  // namespace headrace::vfd

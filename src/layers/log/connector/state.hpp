// What the layer keeps with the objects of the connector below.
#pragma once

#include <memory>
#include <optional>

#include "vol/dataset/told_addresses.hpp"
#include "vol/dataset/touched.hpp"
#include "vol/object.hpp"

namespace headrace::log_layout {

class LoggedFile;
struct Dataset;

// Why a write is left to HDF5, see docs/guide/log.md; names of statistics are in write.cpp.
enum class Left {
  mpi,
  swmr,
  ended,
  dataset,
  address,
  rows,
  selection,
  conversion,
  memory,
  several_files,
  transfer_list,
  room,
  error
};

// With a file.
struct FileState {
  std::shared_ptr<LoggedFile> file;  // null where it is left to HDF5
  Left left_for = Left::ended;       // writes that are left to HDF5 whatever they are
};

// With the object of an id that the program has from H5Fcreate, H5Fopen or H5Freopen.
struct OpenedByProgram {
  // HDF5's number of the file. At exit HDF5 2.0 closes handles of files that it has freed already:
  // it must not be asked then.
  std::optional<unsigned long> number;
};

// With a handle of a dataset. The dataset is null when it is left to HDF5.
struct Handle {
  bool looked_up = false;
  bool no_log_elsewhere = false;
  vol::AddressesTold addresses_told;
  std::optional<vol::Touched> touched;  // by its reads and writes, once asked for
  std::shared_ptr<Dataset> dataset;
};

inline Handle& handle_of(vol::Object& object) { return object.state.get<Handle>(); }

}  // namespace headrace::log_layout

// Reads of datasets, by their chunks. The program's thread only.
#pragma once

#include "vol/dataset/transfer.hpp"

namespace headrace::cache {

// H5Dread and H5Dread_multi: answers what it can, and has HDF5 read the rest.
herr_t read_datasets(const vol::Reads& reads);

}  // namespace headrace::cache

// Reads and writes of datasets in files over MPI that writes are logged of.
#pragma once

#include <cstddef>

#include "connectors/log/ranks/shared_file.hpp"
#include "vol/dataset/selection.hpp"

namespace headrace::log_layout {

using vol::Runs;

// The first such file of a call; null when there is none.
SharedFile* shared_file_of(std::size_t count, void* const dset[]);

// The arguments of H5Dwrite_multi and H5Dread_multi. Throw Error.
herr_t write_shared(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                    hid_t file_space[], hid_t dxpl, const void* buf[]);
herr_t read_shared(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                   hid_t file_space[], hid_t dxpl, void* buf[]);

// The same for rows of one dataset that the buffer holds one after the other. False, and nothing is
// written, when the type in memory takes more than the elements themselves to convert.
bool write_shared_rows(SharedDataset& shared, vol::Object& object, hid_t mem_type, Runs rows,
                       const void* buffer);

// Throws Error when logs hold something of the dataset that this rank may read, for calls past
// H5Dread and H5Dwrite.
void require_none_logged(vol::Object& dataset);

}  // namespace headrace::log_layout

// Reads and writes of datasets in files over MPI that writes are logged of.
#pragma once

#include <span>

#include "layers/log/connector/ranks/parallel_file.hpp"
#include "vol/dataset/transfer.hpp"

namespace headrace::log_layout {

// Whether a dataset of a call is in such a file.
bool any_of_ranks(std::span<void* const> datasets);

// Throws Error.
herr_t write_over_ranks(const vol::Writes& writes);

// Before datasets are read. Collective where the transfer list says so: logs are drained then.
// Throws Error.
void prepare_read(const vol::Reads& reads);

// Throws Error when logs hold something of the dataset that this rank may read, for calls past
// H5Dread and H5Dwrite.
void require_none_logged(vol::Object& dataset);

}  // namespace headrace::log_layout

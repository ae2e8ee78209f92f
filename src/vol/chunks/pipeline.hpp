// The filters of a dataset, as HDF5 knows them and as the codecs do.
#pragma once

#include "engine/codec/pipeline.hpp"
#include "hdf5/api.hpp"

namespace headrace::vol {

// False when it has none, or one that is to be left to HDF5: unknown, not there to read and write
// with, or with parameters that are not fully understood.
bool read_pipeline(hid_t dcpl, std::size_t chunk_bytes, engine::Pipeline& pipeline);

}  // namespace headrace::vol

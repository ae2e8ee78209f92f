// What HDF5 hands to a connector for H5Dread_chunk and H5Dwrite_chunk: the structs of H5VLnative.h,
// which differ between HDF5 1.14 and 2.x.
#pragma once

#include <cstdint>

#include "hdf5/api.hpp"

namespace headrace {

inline bool is_major1() { return library.version.starts_with("1."); }

// H5VL_native_dataset_chunk_read_t; 1.14 has and reads only the first three.
struct ChunkRead {
  const hsize_t* offset;
  std::uint32_t left_out;
  void* buffer;
  std::size_t* size;
};

// H5VL_native_dataset_chunk_write_t.
struct ChunkWrite1 {
  const hsize_t* offset;
  std::uint32_t left_out;
  std::uint32_t size;
  const void* buffer;
};
struct ChunkWrite2 {
  const hsize_t* offset;
  std::uint32_t left_out;
  std::size_t size;
  const void* buffer;
};

}  // namespace headrace

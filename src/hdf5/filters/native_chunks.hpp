// Stored data of a dataset: its address, and its chunks, as H5Dread_chunk and H5Dwrite_chunk see
// them, through a connector whose last is the native one. Its arguments differ between HDF5 1.14
// and 2.x.
//
// Called on the application's thread. Each may leave records on the error stack.
#pragma once

#include <cstdint>
#include <span>

#include "hdf5/api.hpp"

namespace headrace {

// A dataset of the connector below.
struct UnderDataset {
  void* object;
  hid_t connector;
};

// Whether the connector offers these operations.
bool has_native_chunks(const UnderDataset& dataset);

// Whether it has chunks that are HDF5's own; asks without a property list, which costs most.
bool has_chunks(const UnderDataset& dataset);

// Where contiguous data lies in the file, in bytes from the file's beginning; HADDR_UNDEF for all
// other data and where nothing was written yet.
haddr_t raw_address(const UnderDataset& dataset);

// Bytes that are stored for the chunk at `origin`; 0 when there is no such chunk. Throws Error when
// HDF5 cannot tell.
std::uint64_t stored_size(const UnderDataset& dataset, const hsize_t* origin);

// Fills `bytes`, of the size stored; returns the filters that were left out. Throws Error.
std::uint32_t read_stored(const UnderDataset& dataset, const hsize_t* origin,
                          std::span<std::byte> bytes);

// Whether HDF5 tells the places of chunks to those who visit them. It tells wrong ones of an
// extensible array, the index in its newer formats of datasets with one unlimited dimension, where
// this is not the first one: H5D__earray_idx_iterate_cb() of 1.14 and 2.2 counts chunks in another
// order than they are numbered.
bool tells_chunk_places(const UnderDataset& dataset);
// Of one for which it does: calls visit(origin, filters left out, address in the file, bytes
// stored, data) for each chunk that is stored, after HDF5 has stored what it had changed of chunks
// in memory. A negative result of `visit` ends it as an error. Throws Error.
using VisitChunk = int (*)(const hsize_t*, unsigned, haddr_t, hsize_t, void*);
void visit_chunks(const UnderDataset& dataset, VisitChunk visit, void* data);
// Whether the addresses are those in the file behind a user block, too; that of HDF5 before 1.14.4
// were not.
bool addresses_count_user_block();

// HDF5 reads the chunk from the file again when it is asked for next. It must not be changed in
// memory, nor by other processes meanwhile. Throws Error.
void forget_chunk(const UnderDataset& dataset, const hsize_t* origin);

// Stores a chunk with all filters applied. Throws Error.
void write_stored(const UnderDataset& dataset, const hsize_t* origin,
                  std::span<const std::byte> bytes);

}  // namespace headrace

// Chunks compressed and decompressed on all cores, in place of HDF5's own filters.
//
// The application's thread only.
#pragma once

#include "vol/touched.hpp"

namespace headrace::async {

// What a dataset's read or write of one dataset did with it.
enum class Taken { done, left_to_hdf5 };

// Chunks that HDF5 is to see are stored when it is left to HDF5. `req`: where a large read may
// leave a request, or null. Throws Error.
Taken read_chunks(vol::Object& object, hid_t mem_type, hid_t mem_space, hid_t file_space,
                  hid_t dxpl, void* buffer, void** req = nullptr);
Taken write_chunks(vol::Object& object, hid_t mem_type, hid_t mem_space, hid_t file_space,
                   hid_t dxpl, const void* buffer);

// Stores the dirty chunks that are touched, and those of datasets that were opened through the
// connector; see ChunkCache. What fails is told by the next flush or close of the file. Costs
// nothing when none is dirty.
void settle(const vol::Touched& touched = {},
            const vol::UnderConnector* through = nullptr) noexcept;
// What reads and writes of a dataset, by HDF5, may touch.
vol::Touched touched_by(vol::Object& dataset);
// What a call that HDF5 is about to carry out may touch. `object`: it is made for, or null.
vol::Touched touched_by(const vol::Effects& effects, vol::Object* object);

// HDF5 is about to change what is touched in a way of its own: chunks are dropped when they are
// stored, extents are asked for anew. With `masks` chunks may lack filters from now on.
void distrust(const vol::Touched& touched, bool masks);

// Whether the dataset is about to grow by further rows of chunks only: those that it has stay what
// and where they are. The extent is asked for anew then.
bool only_grows(const vol::Object& object, const hsize_t* extent);

// A handle is about to be closed: what waits for being stored through it is stored.
void let_go(const vol::Object& object);

// Why the reads and writes of a dataset are left to HDF5, as a word of the table in
// docs/guide/async.md; "" when they are taken over, but for what is to be said of a call. Constant.
const char* why_left_to_hdf5(vol::Object& object);

// Writes what the filters did into the report and starts counting anew.
void report_filters();

}  // namespace headrace::async

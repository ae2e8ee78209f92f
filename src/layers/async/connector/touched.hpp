// What the connector holds of what HDF5 is about to look at or change. The program's thread only.
#pragma once

#include "vol/dataset/touched.hpp"

namespace headrace::async {

// What reads and writes of a dataset, by HDF5, may touch.
vol::Touched touched_by(vol::Object& dataset);

// HDF5 is about to change what is touched in a way of its own: chunks are dropped when they are
// stored, extents are asked for anew. With `masks` chunks may lack filters from now on.
void forget_touched(const vol::Touched& touched, bool masks);

// A handle is about to be closed: what waits for being stored through it is stored.
void before_handle_closes(const vol::Object& object);

// Why the reads and writes of a dataset are left to HDF5, as a word of the table in
// docs/guide/async.md; "" when they are taken over, but for what is to be said of a call. Constant.
const char* why_left_to_hdf5(vol::Object& object);

}  // namespace headrace::async

// What the connector knows of a dataset, by its handle. The program's thread only.
#pragma once

#include <string_view>
#include <variant>

#include "engine/cache/key.hpp"
#include "layers/cache/connector/cached_file.hpp"
#include "vol/chunks/chunked.hpp"
#include "vol/chunks/element_transfer.hpp"

namespace headrace::cache {

struct CachedDataset {
  vol::Chunked chunked;
  engine::cache::DatasetKey key;
  engine::cache::DatasetKey on_disk;
  CachedFile& file;
  bool contiguous = false;  // its chunks are blocks
  Uses* uses = nullptr;     // of what has no filters, by all handles of the dataset; else null
  Ahead* ahead = nullptr;   // by all of them; null before one of many chunks was decoded
};

// The dataset, or why it is left to HDF5. Asks HDF5 on the first call for a handle only.
std::variant<CachedDataset*, vol::Reason> dataset_of(vol::Object& object);

}  // namespace headrace::cache

// Where HDF5 has stored the chunks of a dataset. The program's thread only.
#pragma once

#include "engine/reading/chunk_map.hpp"
#include "layers/async/connector/dataset.hpp"

namespace headrace::async {

// The driver that HDF5 calls for the dataset's file.
struct MappedFile {
  H5FD_t* driver = nullptr;  // null where data must not be read by it
  bool constant = false;     // nobody writes to the file
};
MappedFile mapped_file_of(const Dataset& dataset, const vol::Object& object);

// What is known of a dataset for its maps.
struct Mapping {
  std::uint64_t touched = 0;  // chunks that were read while there was no map
  unsigned slow_reads = 0;    // by a map, before the first that was as fast as from memory
  bool fast = false;          // there was one
  std::uint64_t time = 0;     // see forget_maps()
  std::shared_ptr<const engine::ChunkMap> kept;  // of a constant file

  // Drops a map that may be old.
  void update(const engine::Grid& grid);
};

// For a dataset's `mapping`. Handles of one without filters, in a file that the program only reads,
// share it, also with those that are opened later.
std::shared_ptr<Mapping> mapping_of(Dataset& dataset, const vol::Object& object);
// Forgets those that no handle has.
void forget_closed_mappings();

constexpr std::uint64_t kMostMapped = 4U << 20U;  // chunks; their map has 96 MiB

// Whether a map of so many chunks more may be kept.
bool may_keep_map(std::uint64_t chunks);

// The map that is kept, or a new one. Throws Error where HDF5 does not tell all of it.
std::shared_ptr<const engine::ChunkMap> map_of(const Dataset& dataset, Mapping& mapping,
                                               const MappedFile& file, const vol::Object& object);

// HDF5 is about to read files anew: the maps that are kept may be old.
void forget_maps();

}  // namespace headrace::async

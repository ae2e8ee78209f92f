// What the connector knows of datasets: of all, what their elements are and where; of chunked ones
// whose filters it takes over, the rest.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/box.hpp"
#include "engine/cache/write_back.hpp"
#include "hdf5/filters/native_chunks.hpp"
#include "layers/async/connector/requests/read_pace.hpp"
#include "vol/chunks/element_transfer.hpp"
#include "vol/dataset/touched.hpp"

namespace headrace::async {

using vol::describe;
using vol::extent_known;
using vol::extents_may_have_changed;
using vol::Identity;
using vol::update_dims;
using Transfer = vol::ElementTransfer;

// Where contiguous data of a file that nobody writes to lies; no driver for all other data.
struct Contiguous {
  H5FD_t* driver = nullptr;
  haddr_t address = HADDR_UNDEF;
};

// What is known of a dataset's elements, and how reads of them went.
struct Elements : vol::Chunked {
  ReadPace pace;
  std::optional<Contiguous> contiguous;  // once asked for
  bool as_stored = false;                // elements are stored as they are
};

struct Mapping;  // chunks/chunk_maps.hpp

// One for all handles of a dataset; owns its chunks in the cache, whose share is that of the file
// that it was found in first. The program's thread only.
struct Dataset : Elements, engine::cache::Owner {
  bool fresh = false;  // made by this process: no chunk lacks a filter
  std::size_t native_cache = 0;
  std::size_t stored = 0;    // chunks of ours
  std::size_t left_out = 0;  // chunks in which a filter gained nothing

  // The handle that chunks are stored through; null while none is open or needed.
  vol::Object* handle = nullptr;
  std::size_t reading = 0;  // chunks that are being read behind the program

  std::shared_ptr<Mapping> mapping;  // once a read may have gained by a map
  std::optional<bool> mappable;      // see complete(); once asked for

  // Chunks that do not compress cost twice: HDF5 finds it out once more.
  [[nodiscard]] bool worth_encoding() const { return left_out < 4 || left_out < stored; }
  // Whether its chunks may be kept in the cache, in place of HDF5, which may have the larger cache.
  [[nodiscard]] bool fits_cache() const {
    return chunk_bytes <= share->limit && native_cache <= share->limit;
  }
  [[nodiscard]] UnderDataset under() const { return {handle->under, handle->connector->id()}; }

  [[nodiscard]] engine::Buffer encode(const engine::cache::DirtyChunk& chunk) const override;
  bool store(const engine::cache::DirtyChunk& chunk, const engine::Buffer& encoded) override;
  void lose(const std::exception_ptr& error) noexcept override;
  [[nodiscard]] bool encodes_behind() const override { return engine::may_run_behind(pipeline); }
};

// The dataset behind a handle; null when it is one that the connector leaves to HDF5. Asks HDF5 on
// the first call for a handle only.
std::shared_ptr<Dataset> dataset_of(vol::Object& object);

// The elements of a dataset of any layout; null where they are more than their bytes, or belong to
// other datasets (virtual ones), and in files that the connector leaves alone.
Elements* elements_of(vol::Object& object);

// Of a handle for which dataset_of() gives none: why. ask_why_not() asks HDF5 for all that matters,
// where the former knows only that there are no chunks that could be taken over.
std::string_view why_not(const vol::Object& object);
std::string_view ask_why_not(vol::Object& object);

// A dataset in chunks without filters that are small enough to be read by a map; null otherwise. A
// handle has one of its own, of which only reads know. Of a new dataset HDF5 is asked when a read
// selects much: `space` is what it selects.
std::shared_ptr<Dataset> small_chunks_of(vol::Object& object, hid_t space);
// Asks HDF5 for the rest of what reads by a map need; false when it does not tell.
bool complete(Dataset& dataset, const vol::Object& object);

// Whether the reads and writes of a dataset touch no other one, as those of a virtual one do.
bool stands_alone(const vol::Object& object);

// Marks the handle of a new dataset; `dcpl` is its creation list.
void note_created(vol::Object& object, hid_t dcpl);

// The dataset if dataset_of() has found it before; null otherwise.
std::shared_ptr<Dataset> known_dataset_of(const vol::Object& object);

// Chunks of what is touched may lack filters from now on: HDF5 leaves one out that gains nothing.
void masks_are_possible(const vol::Touched& touched);

// Forgets datasets that no handle is open for. Their chunks must be clean.
void forget_closed_datasets();
// Drops the cached chunks of what is touched, after storing those that are dirty.
void drop_chunks(const vol::Touched& touched);

}  // namespace headrace::async

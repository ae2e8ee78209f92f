// The rule for chunk caches. HDF5 keeps 1 MiB of decoded chunks for a dataset (8 MiB in 2.x), so a
// program that goes through rows of a dataset whose chunks make up more decodes each chunk once for
// every row. Where chunks that the program comes back to have left the cache, or have never fitted
// in, the dataset gets a cache that holds them.
//
// Safe, as the cache is one of HDF5's own: what is in it is written where HDF5 would write it at
// the latest, at a flush and at a close. Applies to chunks that HDF5 puts into its cache, where the
// program has left the size of that cache as HDF5 has it, and whose filters lose nothing, or in a
// file that is read only; not where the layer cache keeps the dataset's chunks. The caches that
// were enlarged take no more than `memory` in the process.
//
// HDF5 makes the cache when it opens a dataset, so the dataset is closed below, and opened anew by
// its name. That is done between calls of the program, and where the name leads to that dataset.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "engine/chunk_reuse.hpp"
#include "layers/tune/connector/budget.hpp"
#include "layers/tune/connector/file_state.hpp"

namespace headrace::tune {

// What is known of a dataset by one of its handles, with which it is kept.
class Watched {
 public:
  // Before a read or write of what that space selects. `between`: whether no other call of HDF5's
  // is under way. Throws Error where the dataset has been closed below and cannot be opened again.
  void before_transfer(vol::Object& dataset, hid_t file_space, bool between);
  void after_transfer(hid_t file_space);
  // Of a dataset that has no chunks.
  void forget() { wanted_ = false; }
  Watched() = default;
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched();

 private:
  using Clock = std::chrono::steady_clock;
  bool learn(vol::Object& dataset, FileState& file);
  void note_quiet();
  bool update_grid(hid_t file_space);
  void enlarge(vol::Object& dataset, const std::shared_ptr<FileState>& file, std::uint64_t chunks);

  bool wanted_ = true;  // false once there is nothing more to find out
  bool known_ = false;
  std::uint64_t transfers_ = 0;
  unsigned stride_ = 1;               // of so many transfers one is looked at
  unsigned quiet_ = 0;                // that were, since nothing was wanted
  Clock::time_point begun_;           // when the first one was
  std::optional<engine::Box> first_;  // of that one, until another is looked at
  engine::Grid grid_;
  engine::ChunkReuse reuse_;
  std::uint64_t chunk_bytes_ = 0;
  std::uint64_t capacity_ = 0;  // of HDF5's cache, in chunks
  std::optional<Grant> grant_;
  std::shared_ptr<FileState> file_;  // in which the dataset is noted as one with a larger cache
  vol::Identity identity_{};
};

// Others are about to read a file of the process while it is written (SWMR), by whichever handle:
// no cache is enlarged from then on.
void enlarge_no_more();

// Puts the size that the program knows of into an access list of the dataset that it has asked for.
void restore_chunk_cache(const vol::Object& dataset, hid_t dapl);

}  // namespace headrace::tune

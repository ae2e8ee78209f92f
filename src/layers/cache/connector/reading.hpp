// A read of one dataset, chunk by chunk: from what is cached, or decoded into its shared place. The
// program's thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/cache/store.hpp"
#include "engine/threads/ordered.hpp"
#include "layers/cache/connector/cached_dataset.hpp"
#include "layers/cache/connector/filled.hpp"
#include "vol/chunks/parts.hpp"

namespace headrace::cache {

// Reasons of what has no filters.
inline constexpr vol::Reason kLeftForFirstUse = "left_for_first_use";
inline constexpr vol::Reason kLeftForOrder = "left_for_order";

class Reading {
 public:
  // `object`: the program's handle of the dataset.
  Reading(const vol::ChunkTransfer& transfer, CachedDataset& dataset, vol::Object& object,
          std::byte* program)
      : transfer_(transfer), dataset_(dataset), object_(object), program_(program) {}

  // Why HDF5 must read it all; none when it is done. Throws Error.
  vol::Reason parts();

 private:
  friend class FillJob;

  [[nodiscard]] engine::cache::Key key_of(const vol::Part& part) const {
    return {dataset_.key, part.chunk};
  }
  [[nodiscard]] std::size_t bytes() const { return dataset_.chunked.chunk_bytes; }
  [[nodiscard]] engine::cache::SharedStore& store() const { return dataset_.file.store(); }
  // None for what a filter of others has decoded: another version may come, which does it
  // otherwise.
  [[nodiscard]] NodeDisk* disk() const {
    return dataset_.chunked.by_hdf5 && !dataset_.contiguous ? nullptr : dataset_.file.disk();
  }
  bool is_hit(const vol::Part& part);
  bool was_used(const vol::Part& part);
  bool is_worth_it(const vol::Part& part, std::uint64_t first);
  vol::Reason leave(vol::Parts& parts, vol::Part part, std::uint64_t first);
  vol::Reason fill(const vol::Part& part);
  vol::Reason decode(const vol::Part& part, engine::cache::Claim claim);
  vol::Reason decode_by_hdf5(const vol::Part& part, engine::cache::Claim claim);
  [[nodiscard]] Filled filled(std::uint64_t chunk) const;
  // How many of so many bytes each make up a sixteenth of the memory, four of its largest chunks.
  [[nodiscard]] std::uint64_t in_a_sixteenth(std::size_t bytes) const {
    return 4 * store().largest() / bytes;
  }
  void follow_order(std::uint64_t chunk);
  void decode_ahead(const Uses::Call& call);
  void decode_ahead(std::uint64_t chunk);
  void hand_over(const vol::Part& part, engine::cache::Claim& claim) const;

  const vol::ChunkTransfer& transfer_;
  CachedDataset& dataset_;
  vol::Object& object_;
  std::byte* program_;
  std::optional<engine::Ordered> decoding_;  // of reads of several chunks
};

}  // namespace headrace::cache

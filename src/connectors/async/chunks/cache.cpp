#include "connectors/async/chunks/cache.hpp"

#include "connectors/async/chunks/closings.hpp"
#include "connectors/async/chunks/reads_behind.hpp"
#include "hdf5/lifecycle.hpp"

namespace headrace::async {
namespace {

// All owners of the cache's chunks are datasets of this connector.
const Dataset& dataset_with(const engine::ChunkOwner& owner) {
  return static_cast<const Dataset&>(owner);
}

engine::ChunkCache& make_cache() {
  // HDF5 that ends can store no dataset's first chunk.
  before_process_ends({[] { return !nothing_waits(); }, [] { store_chunks(); }});
  return *new engine::ChunkCache;  // leaked: HDF5 closes what is open while the process exits
}

}  // namespace

engine::ChunkCache& cache() {
  static auto& cache = make_cache();
  return cache;
}

bool nothing_waits() { return cache().all_stored() && !any_closing(); }

void store_encoded() noexcept {
  if (nothing_waits()) return;
  cache().store_encoded();
  close_stored();
}

void store_chunks(const vol::Touched& touched, const vol::UnderConnector* through) noexcept {
  if (any_closing()) end_reads(true);
  if (nothing_waits()) return;
  cache().store([&](const engine::ChunkOwner& owner) {
    const Dataset& dataset = dataset_with(owner);
    return touched.has(dataset.identity) || dataset.handle->connector.get() == through;
  });
  close_stored();
}

std::size_t unstored_bytes(const vol::UnderConnector& connector) {
  return cache().unstored_bytes([&](const engine::ChunkOwner& owner) {
    return dataset_with(owner).handle->connector.get() == &connector;
  });
}

}  // namespace headrace::async

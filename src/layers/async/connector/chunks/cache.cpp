#include "layers/async/connector/chunks/cache.hpp"

#include "engine/cache/local_store.hpp"
#include "hdf5/lifecycle.hpp"
#include "layers/async/connector/chunks/closings.hpp"
#include "layers/async/connector/chunks/reads_behind.hpp"

namespace headrace::async {
namespace {

// All owners of the cache's chunks are datasets of this connector.
const Dataset& dataset_with(const engine::cache::Owner& owner) {
  return static_cast<const Dataset&>(owner);
}

// Leaked: HDF5 closes what is open while the process exits.
engine::cache::WriteBack& make_cache() {
  // HDF5 that ends can store no dataset's first chunk.
  before_process_ends({[] { return !nothing_waits(); }, [] { store_chunks(); }});
  auto& stored = *new engine::cache::LocalStore(cache_room());
  return *new engine::cache::WriteBack(stored, cache_room());
}

}  // namespace

engine::cache::Room& cache_room() {
  static auto& room = *new engine::cache::Room;
  return room;
}

engine::cache::WriteBack& cache() {
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
  cache().store([&](const engine::cache::Owner& owner) {
    const Dataset& dataset = dataset_with(owner);
    return touched.has(dataset.identity) || dataset.handle->connector.get() == through;
  });
  close_stored();
}

std::size_t unstored_bytes(const vol::UnderConnector& connector) {
  return cache().unstored_bytes([&](const engine::cache::Owner& owner) {
    return dataset_with(owner).handle->connector.get() == &connector;
  });
}

}  // namespace headrace::async

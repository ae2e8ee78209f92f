#include "layers/async/connector/coherence.hpp"

#include "hdf5/quiet_errors.hpp"
#include "layers/async/connector/chunks/cache.hpp"
#include "layers/async/connector/chunks/chunk_maps.hpp"
#include "layers/async/connector/control.hpp"
#include "layers/async/connector/dataset.hpp"
#include "layers/async/connector/file_state.hpp"
#include "layers/async/connector/mpi_staging.hpp"
#include "layers/async/connector/requests/queue.hpp"
#include "layers/async/connector/touched.hpp"
#include "layers/async/driver/mpi_file.hpp"
#include "vol/dataset/told_addresses.hpp"
#include "vol/own_question.hpp"

namespace headrace::async {

vol::Touched Coherence::touched(const Call& call) {
  if (call.object == nullptr || !filters_on(*call.object->connector)) return {};
  if (call.effects.reach == vol::Reach::object) return touched_by(*call.object);
  return call.effects.reach == vol::Reach::file ? file_touched_by(call.effects, *call.object)
                                                : vol::Touched();
}

// A dataset's handle that the program has closed may have to be open below until its chunks are
// stored: a copy would find it so.
void Coherence::publish(const Call& call, const vol::Touched& what, Strength /*strength*/) {
  carry_out_queue();
  const bool of_file = call.effects.reach == vol::Reach::file && call.object != nullptr;
  store_chunks(what, of_file ? call.object->connector.get() : nullptr);
  drain_mpi_files();
  if (call.surely(vol::effect::copies)) forget_closed_datasets();
}

void Coherence::forget(const Call& call, const vol::Touched& what) {
  constexpr unsigned kMasks = vol::effect::writes | vol::effect::tells_addresses;
  forget_touched(what, call.effects.any(kMasks));
  if (call.effects.any(vol::effect::refreshes)) forget_maps();
}

// Whoever takes the descriptor, or MPI's file, may write and read by it. The report asks for it
// past this connector, and a layer above for its own driver.
void Coherence::stop(const Call& call) {
  const vol::Effects& effects = call.effects;
  const bool taken =
      effects.any(vol::effect::gives_handle) && vol::OwnQuestion::current() == nullptr;
  if (effects.any(vol::effect::unlinks)) note_unlinked();
  if (effects.any(vol::effect::mounts)) note_mounted();
  if (effects.any(vol::effect::lets_others_read)) filters_off();
  if (taken || effects.any(vol::effect::makes_atomic)) stop_staging_over_mpi();
  if (taken) filters_off(*call.object->connector);
}

bool Coherence::is_own(H5VL_subclass_t kind, int operation) {
  return is_operation(kind, operation);
}

bool Coherence::keeps_places(const vol::Object& object, const hsize_t* extent) {
  const auto dataset = known_dataset_of(object);
  if (dataset == nullptr || !extent_known(*dataset) || extent[0] < dataset->dims[0]) return false;
  for (unsigned d = 1; d < dataset->rank; ++d)
    if (extent[d] != dataset->dims[d]) return false;
  extents_may_have_changed();
  return true;
}

// The data of the dataset must be in the file when the call returns.
void Coherence::address_told(const vol::Object& dataset) {
  const PrivateErrors own;
  vol::Identity identity{};
  if (!vol::read_identity(dataset, identity)) return;
  const bool writable = write_raw_at_once(identity.file);
  if (writable || may_write(*dataset.connector)) vol::note_addresses_told(dataset);
}

Coherence::After Coherence::reshaping(const vol::Object& dataset, const hsize_t* extent) {
  carry_out_queue();
  if (extent != nullptr) drain_together(*dataset.connector);
  return {};
}

}  // namespace headrace::async

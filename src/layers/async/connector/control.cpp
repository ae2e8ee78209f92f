#include "layers/async/connector/control.hpp"

#include <headrace/async.h>

#include <array>
#include <cstddef>

#include "hdf5/quiet_errors.hpp"
#include "layers/async/connector/chunks/cache.hpp"
#include "layers/async/connector/file_state.hpp"
#include "layers/async/connector/requests/queue.hpp"
#include "layers/async/connector/touched.hpp"
#include "layers/async/driver/mpi_file.hpp"
#include "layers/async/driver/write_behind.hpp"
#include "vol/operations.hpp"

namespace headrace::async {
namespace {

// Our driver's part of the file, or null where it stages nothing.
OpenFile* write_behind_of(const vol::Object& file) {
  OpenFile* found = driver_of(file);
  return found == nullptr || found->staged == nullptr ? nullptr : found;
}

template <typename Answer>
void fill(void* args, const Answer& answer) {
  static_assert(offsetof(Answer, size) == 0);
  vol::give_answer(args, &answer, sizeof answer);
}

void wait(vol::Object& file, void* /*args*/) {
  carry_out_queue();
  store_chunks();
  drain_mpi_files();
  if (OpenFile* below = write_behind_of(file); below != nullptr) drain(*below);
  file.connector->throw_deferred();
}

void pause(vol::Object& file, void* /*args*/) { pause_for(*file.connector); }

void resume(vol::Object& file, void* /*args*/) {
  if (!resume_for(*file.connector)) throw Error("the file is not paused");
}

void progress(vol::Object& file, void* args) {
  headrace_progress_t answer{};
  answer.memory = engine::staging_memory();  // first: workers go on giving it back
  if (const OpenFile* below = write_behind_of(file); below != nullptr) {
    const engine::StagingProgress staging = below->staged->progress();
    answer.accepted = staging.accepted;
    answer.stored = staging.accepted - staging.staged;
    answer.staged = staging.staged;
  }
  answer.chunks = unstored_bytes(*file.connector);
  fill(args, answer);
}

void tell_why_not(vol::Object& dataset, void* args) {
  fill(args, headrace_why_not_t{sizeof(headrace_why_not_t), why_left_to_hdf5(dataset)});
}

std::span<vol::Operation> operations() {
  static std::array<vol::Operation, 5> operations{{
      {HEADRACE_OPERATION_WAIT, H5VL_SUBCLS_FILE, &wait},
      {HEADRACE_OPERATION_PAUSE, H5VL_SUBCLS_FILE, &pause},
      {HEADRACE_OPERATION_RESUME, H5VL_SUBCLS_FILE, &resume},
      {HEADRACE_OPERATION_PROGRESS, H5VL_SUBCLS_FILE, &progress},
      {HEADRACE_OPERATION_WHY_NOT, H5VL_SUBCLS_DATASET, &tell_why_not},
  }};
  return operations;
}

void carry_out(H5VL_subclass_t kind, vol::Object& object, const H5VL_optional_args_t& args) {
  if (const auto* one = vol::find_operation(operations(), kind, args.op_type))
    one->carry_out(object, args.args);
}

}  // namespace

void register_operations() { vol::register_operations(operations()); }

bool is_operation(H5VL_subclass_t kind, int operation) {
  return vol::find_operation(operations(), kind, operation) != nullptr;
}

void operate_on_file(vol::Object& file, const H5VL_optional_args_t& args) {
  carry_out(H5VL_SUBCLS_FILE, file, args);
}

void operate_on_dataset(vol::Object& dataset, const H5VL_optional_args_t& args) {
  carry_out(H5VL_SUBCLS_DATASET, dataset, args);
}

}  // namespace headrace::async

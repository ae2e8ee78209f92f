#include "connectors/async/control.hpp"

#include <headrace/async.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "connectors/async/chunk_cache.hpp"
#include "connectors/async/file_state.hpp"
#include "connectors/async/filters.hpp"
#include "connectors/async/queue.hpp"
#include "drivers/async/mpi_file.hpp"
#include "drivers/async/write_behind.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::async {
namespace {

struct Operation {
  const char* name;
  H5VL_subclass_t kind;
  void (*carry_out)(vol::Object& object, void* args);
  int number = -1;  // none yet
};

// Our driver's part of the file, or null where it stages nothing.
OpenFile* write_behind_of(const vol::Object& file) {
  OpenFile* found = driver_of(file);
  return found == nullptr || found->staged == nullptr ? nullptr : found;
}

// A caller may have been made with a shorter struct. Both begin with their size.
template <typename Answer>
void fill(void* args, const Answer& answer) {
  static_assert(offsetof(Answer, size) == 0);
  std::size_t size = 0;
  if (args != nullptr) std::memcpy(&size, args, sizeof size);
  if (size < sizeof size) throw Error("the operation needs a struct that tells its size");
  const std::size_t told = std::min(size, sizeof answer) - sizeof size;
  std::memcpy(static_cast<std::byte*>(args) + sizeof size,
              reinterpret_cast<const std::byte*>(&answer) + sizeof size, told);
}

void wait(vol::Object& file, void* /*args*/) {
  carry_out_queue();
  settle();
  settle_mpi_files();
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
  answer.chunks = cache().unstored_bytes(*file.connector);
  fill(args, answer);
}

void tell_why_not(vol::Object& dataset, void* args) {
  fill(args, headrace_why_not_t{sizeof(headrace_why_not_t), why_left_to_hdf5(dataset)});
}

std::array<Operation, 5>& operations() {
  static std::array<Operation, 5> operations{{
      {HEADRACE_OPERATION_WAIT, H5VL_SUBCLS_FILE, &wait},
      {HEADRACE_OPERATION_PAUSE, H5VL_SUBCLS_FILE, &pause},
      {HEADRACE_OPERATION_RESUME, H5VL_SUBCLS_FILE, &resume},
      {HEADRACE_OPERATION_PROGRESS, H5VL_SUBCLS_FILE, &progress},
      {HEADRACE_OPERATION_WHY_NOT, H5VL_SUBCLS_DATASET, &tell_why_not},
  }};
  return operations;
}

void carry_out(H5VL_subclass_t kind, vol::Object& object, const H5VL_optional_args_t& args) {
  for (const Operation& one : operations())
    if (one.kind == kind && one.number == args.op_type) one.carry_out(object, args.args);
}

}  // namespace

void register_operations() {
  const Aside aside;
  for (Operation& one : operations()) {
    // Known still when the connector was unloaded and comes back.
    if (h5.VLfind_opt_operation(one.kind, one.name, &one.number) >= 0) continue;
    if (h5.VLregister_opt_operation(one.kind, one.name, &one.number) < 0) one.number = -1;
  }
}

bool is_operation(H5VL_subclass_t kind, int operation) {
  return operation >= 0 && std::ranges::any_of(operations(), [&](const Operation& one) {
           return one.kind == kind && one.number == operation;
         });
}

void operate_on_file(vol::Object& file, const H5VL_optional_args_t& args) {
  carry_out(H5VL_SUBCLS_FILE, file, args);
}

void operate_on_dataset(vol::Object& dataset, const H5VL_optional_args_t& args) {
  carry_out(H5VL_SUBCLS_DATASET, dataset, args);
}

}  // namespace headrace::async

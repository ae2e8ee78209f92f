#include "layers/log/connector/serial/all_files.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "base/report/log.hpp"
#include "hdf5/lifecycle.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/log/connector/reading/read.hpp"
#include "layers/log/connector/serial/serial_file.hpp"
#include "layers/log/connector/state.hpp"
#include "vol/chunks/layout.hpp"

namespace headrace::log_layout {
namespace {

bool all_off = false;        // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
bool names_changed = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

template <typename Action>
void for_files(const std::vector<SerialFile*>& those, const Touched& touched,
               const Action& action) {
  if (those.empty()) return;
  const PrivateErrors own;
  std::vector<SerialFile*> files;  // actions change what those are
  std::ranges::copy_if(those, std::back_inserter(files),
                       [&](const SerialFile* file) { return file->is_touched(touched); });
  for (SerialFile* file : files) action(*file);
}

template <typename Action>
void for_pending(const Touched& touched, const Action& action) {
  for_files(pending().files, touched, action);
}

// HDF5 that ends closes files, but writes no datasets any more.
void end_library() {
  pending().broken.clear();  // what failed is tried once more, and numbers begin anew
  for (const std::vector<SerialFile*>& those : {pending().files, pending().marked})
    for (SerialFile* file : those) {
      file->close(true);
      if (!file->broken()) continue;
      log(Level::error, file->broken_error().what());  // HDF5 ignores errors now
      file->give_up();
    }
  pending().broken.clear();
}

bool anything_to_end() {
  return anything_pending() || !pending().marked.empty() || !pending().broken.empty();
}

// A child that cannot use what its parent has logged is told so.
void lose_pending() {
  for (SerialFile* file : pending().files) file->lose();
}

}  // namespace

Pending& pending() {
  static auto& pending = *new Pending;
  return pending;
}

void drain_before_ends() {
  before_process_ends({&anything_pending, [] { drain_short_lived(); }});
  before_library_ends({&anything_to_end, &end_library});
  around_forks({{&anything_pending, [] { drain(); }}, &lose_pending});
}

bool anything_pending() { return !pending().files.empty(); }

bool anything_to_publish() { return anything_pending() || !pending().marked.empty(); }

Touched touched_by(vol::Object& dataset) {
  auto& touched = handle_of(dataset).touched;
  if (!touched) {
    const PrivateErrors own;
    vol::Identity identity{};
    const bool alone = vol::read_identity(dataset, identity) && !vol::is_virtual(dataset);
    touched = alone ? Touched::dataset(identity) : Touched();
  }
  return *touched;
}

void drain(const Touched& touched) noexcept {
  for_pending(touched, [](SerialFile& file) { file.drain(); });
}

void replay(const Touched& touched) noexcept {
  for_pending(touched, [](SerialFile& file) { file.replay(); });
}

void replay_again() noexcept {
  for (SerialFile* file : pending().files) file->replay_again();
}

void retry(unsigned long number) noexcept {
  if (pending().broken.erase(number) == 0) return;
  const PrivateErrors own;
  const std::vector<SerialFile*> files = pending().files;
  for (SerialFile* file : files)
    if (file->is(number)) file->drain();
}

void drain_short_lived(const Touched& touched) noexcept {
  for_pending(touched, [](SerialFile& file) {
    if (!file.keeps_log()) file.drain();
  });
}

void prepare_flush(const Touched& touched) noexcept {
  drain_short_lived(touched);
  for_pending(touched, [](SerialFile& file) {
    if (!file.broken()) file.flush_closed();
  });
}

void drain_and_unmark(const Touched& touched) noexcept {
  drain(touched);
  for_files(pending().marked, touched, [](SerialFile& file) { file.unmark(); });
}

void drain_and_unmark(const char* name) noexcept {
  for (const SerialFile* file : std::vector(pending().marked))
    if (file->is_called(name)) drain_and_unmark(Touched::file(file->number()));
}

void keep_all(unsigned long number) {
  for (SerialFile* file : pending().files)
    if (file->is(number)) file->keep(false);  // it may be open twice
}

void drain_before_names_change() noexcept {
  names_changed = true;
  for_pending({}, [](SerialFile& file) {
    if (file.keeps_names() || file.has_closed()) file.drain();
  });
}

bool names_have_changed() { return names_changed; }

void log_nothing_more() { all_off = true; }

bool nothing_is_logged() { return all_off; }

void drain_others(const SerialFile& file, unsigned long number) noexcept {
  if (pending().files.empty()) return;
  const PrivateErrors own;
  const std::vector<SerialFile*> files = pending().files;
  for (SerialFile* other : files)
    if (other != &file && other->holds(number)) other->drain();
}

}  // namespace headrace::log_layout

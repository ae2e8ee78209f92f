#include "connectors/log/file/all_files.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "base/log.hpp"
#include "connectors/log/file/file.hpp"
#include "connectors/log/reading/read.hpp"
#include "hdf5/lifecycle.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::log_layout {
namespace {

bool all_off = false;        // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
bool names_changed = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

template <typename Action>
void for_files(const std::vector<File*>& those, const Touched& touched, const Action& action) {
  if (those.empty()) return;
  const Aside aside;
  std::vector<File*> files;  // actions change what those are
  std::ranges::copy_if(those, std::back_inserter(files),
                       [&](const File* file) { return file->is_touched(touched); });
  for (File* file : files) action(*file);
}

template <typename Action>
void for_pending(const Touched& touched, const Action& action) {
  for_files(pending().files, touched, action);
}

// HDF5 that ends closes files, but writes no datasets any more.
void end_library() {
  pending().broken.clear();  // what failed is tried once more, and numbers begin anew
  for (const std::vector<File*>& those : {pending().files, pending().marked})
    for (File* file : those) {
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
  for (File* file : pending().files) file->lose();
}

}  // namespace

Pending& pending() {
  static auto& pending = *new Pending;
  return pending;
}

void settle_before_ends() {
  before_process_ends({&anything_pending, [] { settle_short_lived(); }});
  before_library_ends({&anything_to_end, &end_library});
  around_forks({{&anything_pending, [] { settle(); }}, &lose_pending});
}

bool anything_pending() { return !pending().files.empty(); }

void settle(const Touched& touched) noexcept {
  for_pending(touched, [](File& file) { file.settle(); });
}

void give(const Touched& touched) noexcept {
  for_pending(touched, [](File& file) { file.give(); });
}

void give_again() noexcept {
  for (File* file : pending().files) file->give_again();
}

void retry(unsigned long number) noexcept {
  if (pending().broken.erase(number) == 0) return;
  const Aside aside;
  const std::vector<File*> files = pending().files;
  for (File* file : files)
    if (file->is(number)) file->settle();
}

void settle_short_lived(const Touched& touched) noexcept {
  for_pending(touched, [](File& file) {
    if (!file.keeps_log()) file.settle();
  });
}

void prepare_flush(const Touched& touched) noexcept {
  settle_short_lived(touched);
  for_pending(touched, [](File& file) {
    if (!file.broken()) file.flush_closed();
  });
}

void settle_and_unmark(const Touched& touched) noexcept {
  settle(touched);
  for_files(pending().marked, touched, [](File& file) { file.unmark(); });
}

void settle_and_unmark(const char* name) noexcept {
  for (const File* file : std::vector(pending().marked))
    if (file->is_called(name)) settle_and_unmark(Touched::file(file->number()));
}

void keep_all(unsigned long number) {
  for (File* file : pending().files)
    if (file->is(number)) file->keep(false);  // it may be open twice
}

void settle_before_names_change() noexcept {
  names_changed = true;
  for_pending({}, [](File& file) {
    if (file.keeps_names() || file.has_closed()) file.settle();
  });
}

bool names_have_changed() { return names_changed; }

void log_nothing_more() { all_off = true; }

bool nothing_is_logged() { return all_off; }

void settle_others(const File& file, unsigned long number) noexcept {
  if (pending().files.empty()) return;
  const Aside aside;
  const std::vector<File*> files = pending().files;
  for (File* other : files)
    if (other != &file && other->holds(number)) other->settle();
}

}  // namespace headrace::log_layout

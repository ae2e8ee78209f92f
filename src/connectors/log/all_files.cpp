#include "connectors/log/all_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

#include "base/log.hpp"
#include "connectors/log/file.hpp"
#include "connectors/log/read.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::log_layout {
namespace {

bool all_off = false;            // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
bool old_names = false;          // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
bool ends_with_library = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// HDF5 that ends closes files, but writes no datasets any more.
void end_library(void* /*context*/) {
  ends_with_library = false;  // HDF5 forgets it, and may begin anew
  pending().broken.clear();   // what failed is tried once more, and numbers begin anew
  if (pending().files.empty() && pending().marked.empty()) return;
  const LibraryContext context;
  const Aside aside;
  for (const std::vector<File*>& those : {pending().files, pending().marked})
    for (File* file : those) {
      file->close(true);
      if (!file->broken()) continue;
      log(Level::error, file->broken_error().what());  // HDF5 ignores errors now
      file->give_up();
    }
  pending().broken.clear();
}

// For programs that have told HDF5 not to end with them.
void end_process() {
  if (!anything_pending()) return;
  const LibraryContext context;
  settle_short_lived();
}

}  // namespace

Pending& pending() {
  static auto& pending = *new Pending;
  return pending;
}

void settle_before_ends() {
  // Registered after HDF5's, so called before it.
  static const bool at_exit = std::atexit(&end_process) == 0;
  static_cast<void>(at_exit);
  if (!ends_with_library) ends_with_library = h5.atclose(&end_library, nullptr) >= 0;
}

bool anything_pending() { return !pending().files.empty(); }

void lose_pending() {
  for (File* file : pending().files) file->lose();
}

void settle() noexcept {
  if (pending().files.empty()) return;
  const Aside aside;
  const std::vector<File*> files = pending().files;
  for (File* file : files) file->settle();
}

void give() noexcept {
  if (pending().files.empty()) return;
  const Aside aside;
  const std::vector<File*> files = pending().files;
  for (File* file : files) file->give();
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

bool may_be_logged(void* dataset) {
  const Aside aside;
  const vol::Object& object = vol::Object::from(dataset);
  vol::Identity identity{};
  return !vol::read_identity(object, identity) || is_virtual(object) ||
         std::ranges::any_of(pending().files,
                             [&](const File* file) { return file->holds(identity); });
}

void settle_short_lived() noexcept {
  if (pending().files.empty()) return;
  const Aside aside;
  const std::vector<File*> files = pending().files;
  for (File* file : files)
    if (!file->keeps_log()) file->settle();
}

void prepare_flush() noexcept {
  settle_short_lived();
  if (pending().files.empty()) return;
  const Aside aside;
  for (File* file : pending().files)
    if (!file->broken()) file->flush_closed();
}

void settle_and_unmark() noexcept {
  settle();
  if (pending().marked.empty()) return;
  const Aside aside;
  const std::vector<File*> files = pending().marked;
  for (File* file : files) file->unmark();
}

void keep_all(unsigned long number) {
  for (File* file : pending().files)
    if (file->is(number)) file->keep(false);  // it may be open twice
}

void names_may_be_old() { old_names = true; }

bool names_are_old() { return old_names; }

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

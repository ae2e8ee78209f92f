#include "layers/async/driver/write_behind.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "engine/memory/kind.hpp"
#include "hdf5/report/events.hpp"
#include "hdf5/report/summary.hpp"
#include "layers/async/settings.hpp"
#include "vfd/storage.hpp"

namespace headrace::async {
namespace {

// HDF5's flags; its macros for them call into the library.
constexpr unsigned kReadWrite = 0x01;
constexpr unsigned kSwmr = 0x60;  // to write or to read

void count_share(const OpenFile& file) {
  if (file.left > 0) share_of("async").left[file.left_for] += file.left;
  if (file.staged != nullptr) share_of("async").taken += file.staged->statistics().bytes;
}

void tell_statistics(const OpenFile& file) {
  const engine::ReadAheadStatistics ahead =
      file.ahead == nullptr ? file.read_ahead : file.ahead->statistics();
  if (file.staged == nullptr && ahead.bytes == 0 && file.read_behind == 0) return;
  const engine::StagingStatistics told =
      file.staged == nullptr ? engine::StagingStatistics{} : file.staged->statistics();
  const std::array<std::pair<std::string_view, std::uint64_t>, 13> values{{
      {"writes", told.writes},
      {"written_bytes", told.bytes},
      {"rewritten_in_memory_bytes", told.absorbed},
      {"lent_bytes", told.lent},
      {"not_staged_bytes", told.direct},
      {"writes_behind", told.storage_writes},
      {"written_behind_bytes", told.storage_bytes},
      {"writing_behind_ns", told.storage_time},
      {"blocked_ns", told.blocked},
      {"read_behind_bytes", file.read_behind},
      {"read_ahead_bytes", ahead.bytes},
      {"read_ahead_hit_bytes", ahead.hits},
      {"read_ahead_unused_bytes", ahead.unused},
  }};
  report_statistics(Seat::vfd, "headrace_async", file.name, values);
}

// Leaked: HDF5 closes what is open while the process exits.
std::vector<OpenFile*>& open_files() {
  static auto& files = *new std::vector<OpenFile*>;
  return files;
}

// Of a driver without a descriptor what now has the name that the file was opened by.
std::optional<engine::io::FileIdentity> identity_or_name_of(const OpenFile& file) {
  if (const auto identity = identity_of(file)) return identity;
  struct stat status{};
  if (::stat(file.name.c_str(), &status) < 0) return std::nullopt;
  return engine::io::FileIdentity{status.st_dev, status.st_ino, 0};
}

// Those of which the program knows addresses: it may use them again when it opens one again.
std::set<engine::io::FileIdentity>& files_known_to_program() {
  static auto& files = *new std::set<engine::io::FileIdentity>;
  return files;
}

bool is_known_to_program(const OpenFile& file) {
  if (files_known_to_program().empty()) return false;
  const auto identity = identity_or_name_of(file);
  return identity && files_known_to_program().contains(*identity);
}

void stop_reading_ahead(OpenFile& file) {
  if (file.later) file.later->runs_ahead = false;
  if (file.ahead != nullptr) file.read_ahead = file.ahead->statistics();
  file.ahead.reset();
}

// Whether writes may be staged; else why they are left.
bool may_be_staged(OpenFile& file, unsigned flags, const AsyncOptions& options) {
  // Below this, pages would only move from one use to the next.
  constexpr std::uint64_t kLeastBudget = 512U << 10U;
  const bool spares = options.budget > 0 && options.budget < kLeastBudget;
  if ((flags & kSwmr) != 0) file.left_for = "left_for_swmr";
  if (spares) file.left_for = "left_for_budget";
  return (flags & kReadWrite) != 0 && (flags & kSwmr) == 0 && !spares;
}

void note_open(OpenFile& file, const char* name) {
  file.name = name;
  open_files().push_back(&file);
}

void start_staging(OpenFile& file, const AsyncOptions& options, vfd::Over over) {
  const H5FD_t* under = file.under;
  const haddr_t size = under->cls->get_eof(under, H5FD_MEM_DEFAULT);
  if (size == HADDR_UNDEF) return;
  std::unique_ptr<engine::io::File> storage =
      vfd::storage_of(file.under, file.name.c_str(), over, options.direct);
  if (storage == nullptr) return;
  file.threads.emplace(options.threads);
  const auto writers = over == vfd::Over::mpio ? engine::Writers::others : engine::Writers::alone;
  const engine::StagingLimits limits{options.budget, options.flush_interval};
  file.staged = std::make_unique<engine::StagedFile>(std::move(storage), size, limits, writers);
}

void note_raw_at_once(OpenFile& file) {
  file.raw_at_once = is_known_to_program(file);
  if (file.raw_at_once) file.left_for = "left_for_address";
}

bool is_staged_or_will_be(const OpenFile& file) {
  return file.staged != nullptr || (file.later && file.later->stages);
}

// The storage that is read from behind the program; none where that may not be.
engine::io::File* storage_to_read(OpenFile& file) {
  stage_from_now(file);
  if (file.staged != nullptr) return &file.staged->storage();
  if (file.storage != nullptr || !file.later || !file.later->reads) return file.storage.get();
  file.later->reads = false;
  file.storage = vfd::storage_of(file.under, file.name.c_str(), vfd::Over::sec2);
  if (file.storage != nullptr) file.threads.emplace(file.later->options.threads);
  return file.storage.get();
}

void read_ahead_from_now(OpenFile& file) {
  if (!file.later || !file.later->runs_ahead) return;
  file.later->runs_ahead = false;
  const std::uint64_t limit = file.later->options.read_ahead;
  if (engine::io::File* const from = storage_to_read(file))
    file.ahead = std::make_unique<engine::ReadAhead>(*from, file.staged.get(), limit);
}

// Whether reads may be made behind the program.
bool reads_behind_from_now(OpenFile& file) {
  if (file.background != nullptr) return true;
  engine::io::File* const from = file.later && !file.synchronous ? storage_to_read(file) : nullptr;
  if (from != nullptr) file.background = std::make_unique<engine::BackgroundReads>(*from);
  return file.background != nullptr;
}

}  // namespace

void begin_staging(OpenFile& file, const char* name, unsigned flags, const AsyncOptions& options,
                   vfd::Over over) {
  note_open(file, name);
  if (!may_be_staged(file, flags, options)) return;
  start_staging(file, options, over);
  if (file.staged != nullptr) note_raw_at_once(file);
}

void begin(OpenFile& file, const char* name, unsigned flags, const AsyncOptions& options) {
  note_open(file, name);
  const bool stages = may_be_staged(file, flags, options);
  if (stages) note_raw_at_once(file);
  const bool only_reads = (flags & (kReadWrite | kSwmr)) == 0;
  if (!stages && !only_reads) return;
  const bool runs_ahead = options.read_ahead > 0 && !file.raw_at_once;
  file.later = OpenFile::Later{options, stages, true, runs_ahead};
}

void stage_from_now(OpenFile& file) {
  if (!file.later || !file.later->stages) return;
  start_staging(file, file.later->options, vfd::Over::sec2);
  file.later->stages = false;
  if (file.staged == nullptr)
    file.later.reset();  // nothing of it is read behind the program either
}

void end(OpenFile& file) {
  count_share(file);
  tell_statistics(file);
  std::erase(open_files(), &file);
  file.background.reset();
  file.ahead.reset();
  file.storage.reset();
  file.staged.reset();
  file.threads.reset();
}

herr_t read(OpenFile& file, Reader below, H5FD_mem_t type, hid_t dxpl, haddr_t address,
            std::span<std::byte> bytes) {
  constexpr std::uint64_t kWhile = 64U << 10U;
  if (file.ahead == nullptr) {
    file.seen += bytes.size();
    if (file.seen >= kWhile) read_ahead_from_now(file);
  }
  if (file.ahead == nullptr)
    return below(&file.pub, type, dxpl, address, bytes.size(), bytes.data());
  const std::size_t taken = file.ahead->take(address, bytes);
  const std::size_t left = bytes.size() - taken;
  std::chrono::nanoseconds time{};
  if (left > 0) {
    const auto start = std::chrono::steady_clock::now();
    if (below(&file.pub, type, dxpl, address + taken, left, bytes.data() + taken) < 0) return -1;
    time = std::chrono::steady_clock::now() - start;
  }
  const H5FD_t* under = file.under;
  const haddr_t size =
      file.staged == nullptr ? under->cls->get_eof(under, H5FD_MEM_DEFAULT) : file.staged->end();
  file.ahead->note(address, bytes.size(), left, time, size);
  return 0;
}

bool read_behind(OpenFile& file, haddr_t address, std::span<std::byte> bytes) {
  constexpr std::size_t kLeast = 128U << 10U;  // below, a task costs more than it saves
  if (bytes.size() < kLeast) return false;
  // What is staged would have to be put over what is read, while it may change.
  if (file.staged != nullptr && file.staged->any_staged(address, bytes.size())) return false;
  if (!engine::Lending::are_lent(bytes) || !reads_behind_from_now(file)) return false;
  const auto lender = engine::Lending::borrow(bytes);
  if (lender == nullptr) return false;
  std::exception_ptr failed;
  try {
    file.background->start(address, bytes, lender);
  } catch (...) {
    failed = std::current_exception();
  }
  lender->end(nullptr);
  file.read_behind += bytes.size();
  if (failed != nullptr) std::rethrow_exception(failed);
  return true;
}

void drain(OpenFile& file) {
  try {
    file.staged->drain();
  } catch (const Error&) {
    const std::string left = std::to_string(file.staged->staged_bytes());
    std::throw_with_nested(Error("a write behind to file " + file.name + " failed; " + left +
                                 " bytes written before are not in the file yet"));
  }
}

bool left_for_memory(OpenFile& file, H5FD_mem_t type, haddr_t address, std::size_t size,
                     const void* buffer) {
  if (type != H5FD_MEM_DRAW || !engine::is_device_memory(buffer)) return false;
  if (file.background != nullptr) file.background->wait_for(address, size);
  if (file.staged != nullptr && file.staged->any_staged(address, size)) drain(file);
  if (file.ahead != nullptr) file.ahead->forget(address, size);
  return true;
}

void stop(OpenFile& file) {
  if (file.staged != nullptr) drain(file);
  file.left_for = "left_for_descriptor";
  file.synchronous = true;
  file.later.reset();
  file.background.reset();
  stop_reading_ahead(file);
}

bool write_raw_at_once(unsigned long number) {
  const auto is_asked_for = [&](const OpenFile* file) { return file->pub.fileno == number; };
  const bool any = std::ranges::any_of(open_files(), is_asked_for);
  bool writable = false;
  for (OpenFile* file : open_files()) {
    if (!is_staged_or_will_be(*file) || (any && !is_asked_for(file))) continue;
    writable = true;
    if (file->raw_at_once || file->synchronous) continue;
    if (file->staged != nullptr) drain(*file);
    file->raw_at_once = true;
    file->left_for = "left_for_address";
    if (const auto known = identity_or_name_of(*file)) files_known_to_program().insert(*known);
    stop_reading_ahead(*file);
  }
  return writable;
}

std::optional<engine::io::FileIdentity> identity_of(const OpenFile& file) {
  const int* const descriptor = vfd::descriptor_of(file.under);
  return descriptor == nullptr ? std::nullopt : engine::io::identity_of(*descriptor);
}

H5FD_t* driver_numbered(unsigned long number) {
  const auto found = std::ranges::find(open_files(), number,
                                       [](const OpenFile* file) { return file->pub.fileno; });
  return found == open_files().end() ? nullptr : &(*found)->pub;
}

herr_t truncate(OpenFile& file, herr_t (*below)(H5FD_t*, hid_t, bool), hid_t dxpl, bool closing) {
  engine::StagedFile& staged = *file.staged;
  std::exception_ptr failed;
  try {
    drain(file);
  } catch (const Error&) {
    failed = std::current_exception();  // the file gets its size all the same, as natively
  }
  H5FD_t* under = file.under;
  const haddr_t end = under->cls->get_eoa(under, H5FD_MEM_DEFAULT);
  if (file.background != nullptr) file.background->wait();
  // sec2 leaves a file alone that has, as far as it knows, the right size.
  if (file.ahead != nullptr) file.ahead->forget(0, HADDR_MAX);
  const bool resizes = under->cls->get_eof(under, H5FD_MEM_DEFAULT) != end;
  const herr_t result = below(&file.pub, dxpl, closing);
  if (result >= 0) {
    if (!resizes && staged.end() != end) staged.storage().resize(end);
    staged.set_end(end);
  }
  if (failed != nullptr) std::rethrow_exception(failed);
  return result;
}

}  // namespace headrace::async

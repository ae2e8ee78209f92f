#include "layers/cache/connector/cached_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/error.hpp"
#include "base/process/machine.hpp"
#include "base/report/log.hpp"
#include "base/settings/meaning.hpp"
#include "engine/io/local_file_system.hpp"
#include "engine/memory/limit.hpp"
#include "hdf5/quiet_errors.hpp"
#include "sidecar/folder.hpp"
#include "vol/dataset/elements.hpp"
#include "vol/file/system_file.hpp"

namespace headrace::cache {
namespace {

using engine::cache::SharedStore;

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t nanoseconds(const struct timespec& time) {
  return time.tv_sec * kSecond + time.tv_nsec;
}

// Without the writers.
Look look_of(const struct stat& status) {
  return {status.st_dev,
          status.st_ino,
          static_cast<std::uint64_t>(status.st_size),
          nanoseconds(status.st_mtim),
          nanoseconds(status.st_ctim),
          0};
}

std::optional<Look> look_by(int descriptor, std::uint64_t writers) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return std::nullopt;
  Look look = look_of(status);
  look.writers = writers;
  return look;
}

// `more`: what the version depends on beside the file.
std::uint64_t version_of(const Look& look, std::uint64_t more) {
  std::uint64_t version = 0;
  for (const auto word : {look.size, static_cast<std::uint64_t>(look.modified),
                          static_cast<std::uint64_t>(look.changed), more})
    version = engine::cache::mixed(version, word);
  return version;
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0;
  for (const char each : text) hash = engine::cache::mixed(hash, static_cast<unsigned char>(each));
  return hash;
}

// Of this run of the system; empty where it does not tell.
const std::string& boot() {
  static const std::string boot = [] {
    std::string id;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
    return id;
  }();
  return boot;
}

// A quarter of the memory there is; where chunks are shared in a folder that is large enough for
// that, at most half of what is free there.
std::uint64_t memory_for(const CacheOptions& options) {
  if (options.memory > 0) return options.memory;
  const std::uint64_t wanted = engine::memory_limit() / 4;
  const auto room = engine::cache::room_of_shared_folder();
  return room.all < wanted ? wanted : std::min(wanted, room.free / 2);
}

// Once: all files of a process have one cause.
void tell_failure(const Error& error) {
  static bool told = false;
  log(std::exchange(told, true) ? Level::info : Level::warning,
      std::string("no chunks are cached: ") + error.what());
}

// Null where there is none. All files of a process have one.
SharedStore* store_for(const CacheOptions& options) {
  static bool failed = false;
  if (failed) return nullptr;
  if (SharedStore* const store = SharedStore::made()) return store;
  try {
    return &SharedStore::of_process(memory_for(options), options.linger);
  } catch (const Error& error) {
    failed = true;
    tell_failure(error);
    return nullptr;
  }
}

// A program may ask for lengths only, and have processes read that come and go.
void hold_for_children(const CacheOptions& options) {
  error_of([&] {
    static const bool needed = SharedStore::needs_holders(memory_for(options));
    if (needed) store_for(options);
  });
}

// Connectors that give what the file has, and nothing else: by their values. The layer log does
// where the file has no logs: writers that log are writers, and make another version.
bool may_be_below(const std::vector<std::string>& values, const char* file) {
  constexpr std::array<std::string_view, 7> kTransparent{
      "0",                                     // native
      "7200", "7202", "7204", "7206", "7210",  // null, model, fault, async, trace
      "7212"};                                 // tune
  constexpr std::string_view kLog = "7208";
  return std::ranges::all_of(values, [&](const std::string& value) {
    return std::ranges::find(kTransparent, value) != kTransparent.end() ||
           (value == kLog && !sidecar::has_folder(sidecar::path_of(file)));
  });
}

bool is_above_what_gives_the_file(const vol::Object& file, const vol::Opening& opening,
                                  const vol::Layer& layer) {
  if (file.connector->native() != nullptr) return true;
  return may_be_below(vol::connectors_below(*vol::info_of(opening.fapl, layer)), opening.name);
}

}  // namespace

CachedFile::CachedFile(int descriptor, const engine::io::FileIdentity& identity, const Look& look,
                       unsigned long number, const Stores& stores, std::chrono::nanoseconds settle)
    : descriptor_(descriptor),
      identity_(identity),
      look_(look),
      number_(number),
      stores_(stores),
      writers_(engine::cache::Writers::get()),
      settle_(settle),
      version_(version_of(look, look.writers)) {}

std::uint64_t CachedFile::version_on_disk() const {
  return version_of(look_, hash_of(boot() + HEADRACE_VERSION));
}

bool CachedFile::may_be_on_disk() const {
  constexpr int kLonger = 15;
  return since_1970() - look_.changed > kLonger * settle_.count();
}

bool CachedFile::is_quiet() {
  alone_ = alone_ || writers_.number(identity_) != look_.writers;
  return !alone_;
}

bool CachedFile::has_settled() {
  if (settled_) return true;
  settled_ = since_1970() - look_.changed > settle_.count();
  return settled_;
}

bool CachedFile::is_unchanged() {
  if (look_by(descriptor_, look_.writers) != look_) leave_alone();
  return is_quiet();
}

std::optional<Look> look_at(const vol::Opening& opening) {
  if (opening.writes() || opening.swmr()) return std::nullopt;
  struct stat status{};
  if (::stat(opening.name, &status) != 0) return std::nullopt;
  Look look = look_of(status);
  try {
    const auto writers = engine::cache::Writers::get().settled({look.device, look.inode, 0});
    if (!writers) return std::nullopt;
    look.writers = *writers;
  } catch (const Error& error) {
    tell_failure(error);
    return std::nullopt;
  }
  return look;
}

OpenedFile::OpenedFile(vol::Object& file, const vol::Opening& opening, const vol::Layer& layer,
                       const Look& before)
    : file_(&file),
      before_(before),
      options_(meaning_of<CacheOptions>(vol::info_of(opening.fapl, layer)->options)),
      over_mpi_(vol::is_parallel(opening.fapl)),
      may_be_cached_(
          // Looking up a chunk must be no call that all ranks make together.
          (over_mpi_ ? !vol::reads_metadata_together(opening.fapl)
                     : vol::has_descriptor(opening.fapl)) &&
          is_above_what_gives_the_file(file, opening, layer)) {
  std::error_code none;
  if (may_be_cached_) hold_for_children(options_);
  if (over_mpi_ && may_be_cached_) path_ = std::filesystem::absolute(opening.name, none);
}

CachedFile* OpenedFile::cached() {
  if (!may_be_cached_ || cached_ != nullptr) return cached_.get();
  try {
    if (file_ != nullptr) cached_ = examine();
  } catch (const Error& error) {
    log(Level::info, std::string("a file is not cached: ") + error.what());
  }
  may_be_cached_ = cached_ != nullptr;
  return cached_.get();
}

void OpenedFile::note_closing(const vol::Object& handle) {
  if (file_ != &handle) return;
  if (may_be_cached_ && cached_ == nullptr &&
      !vol::only_one_open({file_->under, file_->connector->id()}))
    cached();
  file_ = nullptr;
}

std::optional<int> OpenedFile::descriptor() {
  if (!over_mpi_) return vol::descriptor_of(file_->under, *file_->connector);
  own_ = engine::cache::OwnedDescriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  return own_.get() < 0 ? std::nullopt : std::optional(own_.get());
}

std::unique_ptr<CachedFile> OpenedFile::examine() {
  const vol::BelowFile below{file_->under, file_->connector->id()};
  const auto descriptor = this->descriptor();
  if (!descriptor || !(options_.network || engine::io::is_on_local_file_system(*descriptor)) ||
      !vol::is_read_only(below))
    return nullptr;
  const auto identity = engine::io::identity_of(*descriptor);
  const auto number = vol::number_of(below);
  if (!identity || !identity->is_shared() || !number) return nullptr;
  SharedStore* const store = store_for(options_);
  if (store == nullptr) return nullptr;
  const Stores stores{*store,
                      boot().empty() ? nullptr : NodeDisk::in(options_.path, options_.size)};
  auto cached = std::make_unique<CachedFile>(*descriptor, *identity, before_, *number, stores,
                                             options_.settle);
  return cached->is_unchanged() ? std::move(cached) : nullptr;
}

void leave_alone(const vol::UnderConnector& connector) {
  auto* const file = connector.state.find<OpenedFile>();
  if (file == nullptr) return;
  if (CachedFile* const cached = file->cached()) cached->leave_alone();
}

void leave_stores() {
  NodeDisk::finish_all();
  if (SharedStore* const store = SharedStore::made()) store->leave();
}

}  // namespace headrace::cache

#include "connectors/log/file/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include "base/error.hpp"
#include "base/log.hpp"
#include "connectors/log/file/all_files.hpp"
#include "connectors/log/opening/opening.hpp"
#include "connectors/log/replaying/fit.hpp"
#include "connectors/log/replaying/replay.hpp"
#include "connectors/log/settings.hpp"
#include "connectors/log/state.hpp"
#include "connectors/log/writing/write.hpp"
#include "hdf5/quiet_errors.hpp"
#include "sidecar/folder.hpp"

namespace headrace::log_layout {
namespace {

// An unnamed file beside another one, so that nothing is left of it whatever happens.
int open_beside(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0) return descriptor;
  std::string name = path + ".headrace-XXXXXX";
  descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) throw Error("no log can be made for file " + path, errno);
  ::unlink(name.c_str());
  return descriptor;
}

}  // namespace

File* File::of(const vol::UnderConnector& connector) {
  const FileState* const state = FileState::of(connector);
  return state == nullptr ? nullptr : state->alone.get();
}

File::File(vol::UnderConnector& connector, OpenFile place, bool later)
    : connector_(&connector),
      place_(std::move(place)),
      later_(later),
      room_(std::filesystem::path(path()).parent_path()) {}

File::~File() {
  forget();
  std::erase(log_layout::pending().marked, this);
}

// Logs that are kept find datasets by their names.
bool File::logs() const {
  return logs_ && !nothing_is_logged() && !broken() && !(later_ && names_have_changed());
}

bool File::broken() const { return log_layout::pending().broken.contains(number_); }

bool File::is(const vol::Object& file) const {
  const auto* const opened = file.state.find<OpenedByProgram>();
  return opened != nullptr && opened->number == number_;
}

// One that nothing is open of may have been deleted, and its token be another one's now; not where
// a log of an earlier program is read, in a file that nobody writes to.
std::shared_ptr<Dataset> File::know(const std::shared_ptr<Dataset>& dataset) {
  auto& known = datasets_[dataset->identity];
  if (known == nullptr || (known.use_count() == 1 && !known->pending && known->stored == nullptr))
    known = dataset;
  return known;
}

engine::log::Writer& File::log() {
  if (lost()) throw lost_error();
  if (log_ == nullptr) begin_log();
  return *log_;
}

// A child of fork() has no part in its parent's log, and none of its own that outlives it: the file
// has one only.
void File::leave_log_to_parent() {
  if (process_ == ::getpid()) return;
  process_ = ::getpid();
  later_ = false;
  owner_.reset();
}

void File::begin_log() {
  leave_log_to_parent();
  const bool first = later_ && !owner_;
  const auto owner = first ? sidecar::random_owner() : owner_;
  descriptor_ = later_ ? sidecar::open_log(path(), *owner, first) : open_beside(path());
  log_ = std::make_unique<engine::log::Writer>(
      engine::posix_device(descriptor_, ("log of " + path()).c_str()),
      later_ ? std::optional(engine::log::Belonging{*owner}) : std::nullopt,
      engine::StagingLimits{place_.for_data(), {}});
  if (!first) return;
  // Whoever finds the marker finds the log, after a power cut, too.
  try {
    log_->flush(place_.sync);
    if (place_.sync) sidecar::sync_names(path());
    write_marker(place_.below, *owner);
  } catch (const Error&) {
    forget();
    sidecar::remove_log(sidecar::log_path(path(), *owner));
    throw;
  }
  owner_ = owner;
  log_layout::pending().marked.push_back(this);
}

void File::unmark() noexcept {
  leave_log_to_parent();
  if (broken()) return;
  if (owner_ && !lost_) {
    try {
      retire_marker(place_, *owner_);
    } catch (...) {
      fail();
      return;
    }
    try {
      sidecar::remove_log(sidecar::log_path(path(), *owner_));
    } catch (...) {
      connector_->defer(std::current_exception());
    }
  }
  owner_.reset();
  std::erase(log_layout::pending().marked, this);
}

void File::note_pending(Dataset& dataset, vol::Object& handle) {
  if (!dataset.pending) {
    dataset.place = log().add(logged_as(dataset, later_ ? vol::name_of(handle) : std::string()));
    dataset.pending = true;
  }
  if (dataset.closed == nullptr) dataset.handle = &handle;
  if (pending_) return;
  settle_before_ends();
  pending_ = true;
  log_layout::pending().files.push_back(this);
}

const engine::log::Reader& File::read_log() {
  log_->flush(false);
  const std::uint64_t size = sidecar::size_of(descriptor_);
  if (reader_ == nullptr)
    reader_ = std::make_unique<engine::log::Reader>(
        engine::posix_device(descriptor_, path().c_str()), size);
  else
    reader_->read_on(size);
  if (reader_->end() != log_->end() || reader_->index().write_count != log_->writes() ||
      size < log_->end())
    throw Error("a part of the log of file " + path() + " is gone");
  return *reader_;
}

void File::replay() {
  if (all_given()) return;
  count_replay();
  const engine::log::Reader& reader = read_log();
  for (const auto& [identity, dataset] : datasets_) {
    if (!dataset->pending) continue;
    engine::log::Layers layers;
    layers.add(reader, dataset->place, log_->epoch(), given_epochs_);
    if (!layers.empty()) log_layout::replay(*dataset, layers);
  }
  given_ = log_->writes();
  given_epochs_ = log_->epoch();
  forget_logged();
}

void File::give_again() {
  given_ = given_epochs_ = 0;
  forget_logged();
}

void File::forget_logged() {
  looked_through_ = 0;
  for (const auto& [identity, dataset] : datasets_) dataset->logged.reset();
}

const engine::log::Layers* File::logged(Dataset& dataset,
                                        std::span<const engine::Run> rows) noexcept try {
  constexpr std::uint64_t kMost = 100'000;  // takes as long as writing some MiB
  if (broken() || lost()) return nullptr;
  auto& logged = dataset.logged;
  if (!logged || logged->may_miss(rows)) {
    const engine::log::Reader& reader = read_log();
    if (!logged) logged.emplace(engine::log::Layers(), given_epochs_);
    logged->layers.add(reader, dataset.place, log_->epoch(), logged->end);
    logged->end = log_->epoch();
    logged->since.clear();
    logged->many = false;
  }
  looked_through_ += logged->layers.size();
  return looked_through_ > kMost ? nullptr : &logged->layers;
} catch (...) {
  return nullptr;  // HDF5 is given it, and finds out what is wrong
}

// What the program has closed meanwhile is closed below, whatever comes of it.
void File::forget() {
  forget_logged();
  log_.reset();
  reader_.reset();
  give_again();
  // Not kept for the next log: a child may have it, too.
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  pending_ = false;
  std::erase(log_layout::pending().files, this);
  for (const auto& [identity, dataset] : datasets_) {
    try {
      dataset->close();
    } catch (const std::exception& error) {
      headrace::log(Level::warning, error.what());
    }
    dataset->forget();
  }
}

void File::lose() {
  if (lost_) return;
  lost_ = true;
  stop();
  connector_->defer(std::make_exception_ptr(lost_error()));
}

void File::fail() noexcept {
  log_layout::pending().broken.try_emplace(number_, std::current_exception());
  give_again();
}

// One text, as programs show the innermost cause only.
Error File::broken_error() const {
  const std::string what = "the log of file " + path() + " could not be written to the datasets";
  try {
    std::rethrow_exception(log_layout::pending().broken.at(number_));
  } catch (const std::exception& error) {
    return Error(what + ": " + error.what());
  } catch (...) {
    return Error(what);
  }
}

void File::require_whole() const {
  if (lost_) throw lost_error();
  if (broken()) throw broken_error();
}

// Whether what is pending is that of a parent which forked in a way that told nobody, too.
bool File::lost() {
  if (log_ != nullptr && process_ != ::getpid()) lose();
  return lost_;
}

Error File::lost_error() const {
  return Error("writes to file " + path() +
               " are missing in this process: they were in the log of its parent, which was forked "
               "by another thread than the one that used HDF5");
}

bool File::keeps_log() const noexcept { return owner_ && marks(place_.below, *owner_); }

bool File::is_called(const char* name) const {
  std::error_code none;
  // It may have been renamed since.
  return sidecar::path_of(name) == path() || std::filesystem::equivalent(name, path(), none) ||
         !std::filesystem::exists(path(), none);
}

bool File::is_touched(const Touched& touched) const {
  if (touched.what == Touched::What::all) return true;
  if (touched.what == Touched::What::file) return is(touched.identity.file);
  const auto known = datasets_.find(touched.identity);
  return known != datasets_.end() && known->second->pending;
}

bool File::has_closed() const {
  return std::ranges::any_of(datasets_,
                             [](const auto& known) { return known.second->closed != nullptr; });
}

bool File::holds(unsigned long number) const {
  return std::ranges::any_of(datasets_, [&](const auto& known) {
    return known.second->pending && known.first.file == number;
  });
}

// What the log says of the file now, the file must have on storage first: recovery finds no dataset
// that was made since the last flush.
void File::cover() {
  if (!owner_ || lost()) return;
  flush_closed_datasets();
  flush(place_.below);
  keep(false);
}

void File::give() noexcept {
  if (owner_) return settle();
  if (broken() || lost()) return;
  try {
    replay();
  } catch (...) {
    fail();
  }
}

void File::settle() noexcept {
  if (!pending_ || broken()) return;
  try {
    cover();
    if (!lost()) {
      replay();
      // HDF5's flush of the file passes over those that are closed, or open through another id.
      for (const auto& [identity, dataset] : datasets_)
        if (dataset->pending) dataset->flush();
      flush(place_.below);
      if (owner_ && place_.sync) sidecar::sync_file(path());
      if (owner_) sidecar::empty_log(descriptor_, sidecar::log_path(path(), *owner_), place_.sync);
    }
  } catch (...) {
    fail();
    return;
  }
  forget();
}

void File::give_up() noexcept {
  if (pending_) forget();
  owner_.reset();
  std::erase(log_layout::pending().marked, this);
  stop();
}

bool File::has_room(std::uint64_t bytes, std::uint64_t expected) {
  if (room_.take(bytes + expected)) return true;
  const std::uint64_t log = log_ == nullptr ? 0 : log_->bytes();
  const std::uint64_t there = log_ == nullptr ? 0 : log - log_->staged();
  const auto holds = [&] {
    std::uint64_t wanted = log + bytes;
    for (const auto& [identity, dataset] : datasets_)
      if (dataset->expected > 0) wanted += dataset->expects();
    return room_.holds(wanted, there);
  };
  if (holds()) return true;
  for (const auto& [identity, dataset] : datasets_)
    if (dataset->pending) dataset->look_up(*dataset->handle);
  return holds();
}

void File::limit_memory() noexcept {
  if (log_ == nullptr) return;
  const std::uint64_t most = place_.for_index();
  if (!owner_) {
    if (log_->readers_memory() > most) settle();
    return;
  }
  if (log_->memory() <= most) return;
  try {
    cover();
  } catch (...) {
    connector_->defer(std::current_exception());
  }
}

void File::flush_closed() noexcept {
  try {
    flush_closed_datasets();
  } catch (...) {
    connector_->defer(std::current_exception());
  }
}

void File::flush_closed_datasets() {
  for (const auto& [identity, dataset] : datasets_)
    if (dataset->closed != nullptr) dataset->flush();
}

void File::keep(bool closes) {
  if (!owner_ || lost()) return;
  if (place_.sync) sidecar::sync_file(path());
  if (closes)
    log_->close(place_.sync);
  else
    log_->flush(place_.sync);
  if (place_.sync) sidecar::sync_names(path());
}

void File::sync() const {
  if (const auto path = to_sync()) {
    sidecar::sync_file(*path);
    sidecar::sync_file(std::filesystem::path(*path).parent_path());
  }
}

std::optional<std::string> File::to_sync() const {
  return later_ && place_.sync && !lost_ ? std::optional(path()) : std::nullopt;
}

void File::keep_closed() {
  flush_closed_datasets();
  flush(place_.below);
  keep(true);
  if (!background_.empty() && owner_)
    closed_ =
        sidecar::ClosedFile{path(), sidecar::log_path(path(), *owner_), background_, place_.sync};
  owner_.reset();
  forget();
  log_layout::pending().broken.erase(number_);  // it is all in the log
}

// Objects that the program leaves open keep the file open below; what is written through them goes
// to the datasets, and must not be what the log is put on top of.
void File::close(bool ends) noexcept {
  if (pending_ && keeps_log() && (ends || only_one_open(place_.below))) {
    try {
      keep_closed();
    } catch (const std::exception& error) {
      headrace::log(Level::warning, error.what());
    }
  }
  if (pending_) settle();
  unmark();
  if (broken()) return;
  stop();
  sync_rest();
}

// What the program has written without the log.
void File::sync_rest() noexcept {
  if (!to_sync() || broken()) return;
  try {
    flush(place_.below);
    sync();
  } catch (...) {
    connector_->defer(std::current_exception());
  }
}

}  // namespace headrace::log_layout

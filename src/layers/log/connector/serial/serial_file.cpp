#include "layers/log/connector/serial/serial_file.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>

#include "base/error.hpp"
#include "base/report/log.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/log/connector/replaying/fit.hpp"
#include "layers/log/connector/replaying/replay_target.hpp"
#include "layers/log/connector/serial/all_files.hpp"
#include "layers/log/connector/serial/elsewhere.hpp"
#include "layers/log/connector/state.hpp"
#include "sidecar/folder.hpp"
#include "vol/dataset/box_io.hpp"
#include "vol/own_question.hpp"

namespace headrace::log_layout {

SerialFile::SerialFile(vol::UnderConnector& connector, const OpenFile& place, Canonicalise when)
    : LoggedFile(connector, place, when), room_(path().substr(0, path().rfind('/') + 1)) {}

SerialFile::~SerialFile() {
  forget();
  std::erase(log_layout::pending().marked, this);
}

// Logs that are kept find datasets by their names.
bool SerialFile::logs() const {
  return LoggedFile::logs() && !nothing_is_logged() && !broken() &&
         !(later_ && names_have_changed());
}

const char* SerialFile::until() const { return "its log has been replayed (headrace replay)"; }

// Another one than the log has data of may have come to its place.
void SerialFile::require_not_stored(const vol::Object& object) const {
  vol::Identity identity{};
  if (stored_ == nullptr || !vol::read_identity(object, identity) || !is(identity.file) ||
      !stored_->holds(identity.token))
    return;
  throw Error(vol::describe(object) + " is none that is logged, but the file's log has data of it");
}

std::shared_ptr<Dataset> SerialFile::find(vol::Object& handle) {
  auto dataset = examine(handle);
  if (dataset == nullptr) {
    require_not_stored(handle);
    return nullptr;
  }
  // Who opens the other file looks for a log of that one only; and puts logs in order while HDF5
  // opens the file.
  if (!is(dataset->identity.file) || (dataset->committed && later_)) return nullptr;
  dataset->file = this;
  dataset = know(dataset);
  if (stored_ == nullptr || dataset->writes != nullptr) return dataset;
  if (!vol::update_dims(*dataset, handle))
    throw Error("HDF5 does not tell the extent of " + vol::describe(handle));
  dataset->writes = stored_->writes_of(*dataset);
  return dataset;
}

// One that nothing is open of may have been deleted, and its token be another one's now; not where
// a log of an earlier program is read, in a file that nobody writes to.
std::shared_ptr<Dataset> SerialFile::know(const std::shared_ptr<Dataset>& dataset) {
  auto& known = datasets_[dataset->identity];
  if (known == nullptr || (known.use_count() == 1 && !known->pending && known->writes == nullptr))
    known = dataset;
  return known;
}

// Ranks read it together, each by itself, from a log of an earlier program.
void SerialFile::ask_early(vol::Object& handle, bool /*made*/) {
  if (!asks_together_) return;
  const LibraryContext apart;
  require_no_log_elsewhere(handle);
  Dataset* const dataset = dataset_of(handle);
  const PrivateErrors own;
  if (dataset != nullptr && dataset->chunked()) vol::read_nothing(handle, *dataset);
}

// Whoever has the descriptor may read and write by it.
void SerialFile::stop_before(const vol::Effects& effects) {
  if (effects.any(vol::effect::gives_handle) && vol::OwnQuestion::current() == nullptr) stop();
}

engine::log::Writer& SerialFile::log() {
  if (lost()) throw lost_error();
  if (log_ == nullptr) begin_log();
  return *log_;
}

// A child of fork() has no part in its parent's log, and none of its own that outlives it: the file
// has one only.
void SerialFile::leave_log_to_parent() {
  if (!is_parents()) return;
  process_ = ::getpid();
  later_ = false;
  marked_ = false;
}

void SerialFile::begin_log() {
  leave_log_to_parent();
  const bool first = later_ && !marked_;
  if (first) owner_ = sidecar::random_owner();
  store_ = std::make_unique<sidecar::LogStore>(
      path(), owner_, later_ ? sidecar::Lifetime::kept : sidecar::Lifetime::temporary,
      place_.logs_in);
  descriptor_ = store_->open(first);
  if (!store_->is_placed()) place_.logs_in.clear();
  writer();
  if (!first) return;
  // Whoever finds the marker finds the log, after a power cut, too.
  try {
    log_->flush(place_.sync);
    if (place_.sync) sidecar::sync_names(path());
    write_marker(place_.below, owner_);
  } catch (const Error&) {
    forget();
    store_->remove();
    throw;
  }
  marked_ = true;
  log_layout::pending().marked.push_back(this);
}

void SerialFile::unmark() noexcept {
  leave_log_to_parent();
  if (broken()) return;
  if (marked_ && state_ != State::lost) {
    try {
      retire_marker(place_, owner_);
    } catch (...) {
      fail();
      return;
    }
    try {
      store_->remove();
    } catch (...) {
      connector_->defer(std::current_exception());
    }
  }
  marked_ = false;
  std::erase(log_layout::pending().marked, this);
}

void SerialFile::note_pending(Dataset& dataset, vol::Object& handle) {
  if (!dataset.pending) {
    dataset.place = log().add(logged_as(dataset, later_ ? vol::name_of(handle) : std::string()));
    dataset.pending = true;
  }
  if (dataset.closed == nullptr) dataset.handle = &handle;
  if (pending_) return;
  drain_before_ends();
  pending_ = true;
  log_layout::pending().files.push_back(this);
}

// What the program has closed meanwhile is closed below, whatever comes of it.
void SerialFile::forget() {
  forget_logged();
  close_log();
  replay_again();
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

void SerialFile::lose() {
  if (state_ == State::lost) return;
  state_ = State::lost;
  connector_->defer(std::make_exception_ptr(lost_error()));
}

// Whether what is pending is that of a parent which forked in a way that told nobody, too.
bool SerialFile::lost() {
  if (log_ != nullptr && is_parents()) lose();
  return state_ == State::lost;
}

Error SerialFile::lost_error() const {
  return Error("writes to file " + path() +
               " are missing in this process: they were in the log of its parent, which was forked "
               "by another thread than the one that used HDF5");
}

void SerialFile::require_whole() const {
  if (state_ == State::lost) throw lost_error();
  if (broken()) throw broken_error();
}

bool SerialFile::keeps_log() const noexcept { return marked_ && marks(place_.below, owner_); }

bool SerialFile::is_called(const char* name) const {
  std::error_code none;
  // It may have been renamed since.
  return sidecar::path_of(name) == path() || std::filesystem::equivalent(name, path(), none) ||
         !std::filesystem::exists(path(), none);
}

bool SerialFile::is_touched(const vol::Touched& touched) const {
  if (touched.what == vol::Touched::What::all) return true;
  if (touched.what == vol::Touched::What::file) return is(touched.identity.file);
  const auto known = datasets_.find(touched.identity);
  return known != datasets_.end() && known->second->pending;
}

bool SerialFile::has_closed() const {
  return std::ranges::any_of(datasets_,
                             [](const auto& known) { return known.second->closed != nullptr; });
}

bool SerialFile::may_hold(const vol::Object& dataset) const {
  if (!pending_) return false;
  const Handle* const handle = dataset.state.find<Handle>();
  if (handle == nullptr || !handle->looked_up) return true;  // by another handle
  return handle->dataset != nullptr && handle->dataset->pending;
}

bool SerialFile::holds(unsigned long number) const {
  return std::ranges::any_of(datasets_, [&](const auto& known) {
    return known.second->pending && known.first.file == number;
  });
}

void SerialFile::give_up() noexcept {
  if (pending_) forget();
  marked_ = false;
  std::erase(log_layout::pending().marked, this);
  stop();
}

bool SerialFile::has_room(std::uint64_t bytes, std::uint64_t expected) {
  // A log that cannot be made is an error of the write to it.
  if (!place_.logs_in.empty() && error_of([&] { log(); }) != nullptr) return true;
  const bool placed = !place_.logs_in.empty();  // as far as that could be
  if (placed && !reserve(bytes)) return false;
  const std::uint64_t beside = placed ? 0 : bytes;  // of the write, on the file's own storage
  if (room_.take(beside + expected)) return true;
  const engine::log::Writer* const own = placed ? nullptr : log_.get();
  const std::uint64_t log = own == nullptr ? 0 : own->bytes();
  const std::uint64_t there = own == nullptr ? 0 : log - own->staged();
  const auto holds = [&] {
    std::uint64_t wanted = log + beside;
    for (const auto& [identity, dataset] : datasets_)
      if (dataset->expected > 0) wanted += dataset->expects();
    return room_.holds(wanted, there);
  };
  if (holds()) return true;
  for (const auto& [identity, dataset] : datasets_)
    if (dataset->pending) dataset->look_up(*dataset->handle);
  return holds();
}

}  // namespace headrace::log_layout

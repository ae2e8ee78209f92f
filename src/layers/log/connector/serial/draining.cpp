// Where a log becomes the content of datasets, or is kept for who does that later.
#include <algorithm>
#include <exception>
#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "base/report/log.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/log/connector/replaying/replay.hpp"
#include "layers/log/connector/serial/serial_file.hpp"
#include "layers/log/connector/writing/write.hpp"
#include "sidecar/folder.hpp"

namespace headrace::log_layout {

bool SerialFile::broken() const { return log_layout::pending().broken.contains(number_); }

void SerialFile::fail() noexcept {
  log_layout::pending().broken.try_emplace(number_, std::current_exception());
  replay_again();
}

// One text, as programs show the innermost cause only.
Error SerialFile::broken_error() const {
  const std::string what = "the log of file " + path() + " could not be written to the datasets";
  try {
    std::rethrow_exception(log_layout::pending().broken.at(number_));
  } catch (const std::exception& error) {
    return Error(what + ": " + error.what());
  } catch (...) {
    return Error(what);
  }
}

const engine::log::Reader& SerialFile::read_on() {
  log_->flush(false);
  if (sidecar::size_of(descriptor_) < log_->end())
    throw Error("a part of the log of file " + path() + " is gone");
  return read_log();
}

void SerialFile::replay_datasets() {
  if (all_replayed()) return;
  count_replay();
  const engine::log::Reader& reader = read_on();
  Throttle unbounded(0);  // the program waits
  for (const auto& [identity, dataset] : datasets_) {
    if (!dataset->pending) continue;
    engine::log::LoggedWrites writes;
    writes.add(reader, dataset->place, log_->epoch(), replayed_epochs_);
    if (!writes.empty()) log_layout::replay(*dataset, writes, unbounded);
  }
  replayed_ = log_->writes();
  replayed_epochs_ = log_->epoch();
  forget_logged();
}

void SerialFile::replay_again() {
  replayed_ = replayed_epochs_ = 0;
  forget_logged();
}

void SerialFile::forget_logged() {
  looked_through_ = 0;
  for (const auto& [identity, dataset] : datasets_) dataset->logged.reset();
}

void SerialFile::replay() noexcept {
  if (marked_) return drain();
  if (broken() || lost()) return;
  try {
    replay_datasets();
  } catch (...) {
    fail();
  }
}

void SerialFile::drain() noexcept {
  if (!pending_ || broken()) return;
  try {
    cover();
    if (!lost()) {
      replay_datasets();
      // HDF5's flush of the file passes over those that are closed, or open through another id.
      for (const auto& [identity, dataset] : datasets_)
        if (dataset->pending) dataset->flush();
      flush(place_.below);
      if (marked_ && place_.sync) sidecar::sync_file(path());
      if (marked_) store_->empty(descriptor_, place_.sync);
      note_emptied();
    }
  } catch (...) {
    fail();
    return;
  }
  forget();
}

const engine::log::LoggedWrites* SerialFile::logged(Dataset& dataset,
                                                    std::span<const engine::Run> rows) noexcept
    try {
  constexpr std::uint64_t kMost = 100'000;  // takes as long as writing some MiB
  if (broken() || lost()) return nullptr;
  auto& logged = dataset.logged;
  if (!logged || logged->may_miss(rows)) {
    const engine::log::Reader& reader = read_on();
    if (!logged) logged.emplace(engine::log::LoggedWrites(), replayed_epochs_);
    logged->writes.add(reader, dataset.place, log_->epoch(), logged->end);
    logged->end = log_->epoch();
    logged->since.clear();
    logged->many = false;
  }
  looked_through_ += logged->writes.size();
  return looked_through_ > kMost ? nullptr : &logged->writes;
} catch (...) {
  return nullptr;  // the log is replayed, which finds out what is wrong
}

// What the log says of the file now, the file must have on storage first: recovery finds no dataset
// that was made since the last flush.
void SerialFile::cover() {
  if (!marked_ || lost()) return;
  flush_closed_datasets();
  flush(place_.below);
  keep(false);
}

void SerialFile::limit_memory() noexcept {
  if (log_ == nullptr) return;
  const std::uint64_t most = place_.for_index();
  if (!marked_) {
    if (log_->readers_memory() > most) drain();
    return;
  }
  if (log_->memory() <= most) return;
  try {
    cover();
  } catch (...) {
    connector_->defer(std::current_exception());
  }
}

void SerialFile::flush_closed() noexcept {
  try {
    flush_closed_datasets();
  } catch (...) {
    connector_->defer(std::current_exception());
  }
}

void SerialFile::flush_closed_datasets() {
  for (const auto& [identity, dataset] : datasets_)
    if (dataset->closed != nullptr) dataset->flush();
}

void SerialFile::keep(bool closes) {
  if (!marked_ || lost()) return;
  if (place_.sync) sidecar::sync_file(path());
  if (closes)
    log_->close(place_.sync);
  else
    log_->flush(place_.sync);
  if (place_.sync) sidecar::sync_names(path());
}

void SerialFile::keep_closed() {
  flush_closed_datasets();
  flush(place_.below);
  keep(true);
  if (!background_.empty() && marked_)
    closed_ =
        sidecar::ClosedFile{path(), store_->own_path(), background_, place_.sync, place_.bandwidth};
  marked_ = false;
  forget();
  log_layout::pending().broken.erase(number_);  // it is all in the log
}

// Objects that the program leaves open keep the file open below; what is written through them goes
// to the datasets, and must not be what the log is put on top of.
void SerialFile::close(bool ends) noexcept {
  if (pending_ && keeps_log() && (ends || only_one_open(place_.below))) {
    try {
      keep_closed();
    } catch (const std::exception& error) {
      headrace::log(Level::warning, error.what());
    }
  }
  if (pending_) drain();
  unmark();
  if (broken()) return;
  stop();
  sync_rest();
}

// With sync=true also what is in no log survives a power cut, once HDF5 has flushed the file.
void SerialFile::sync() const {
  if (!syncs()) return;
  sidecar::sync_file(path());
  sidecar::sync_file(std::filesystem::path(path()).parent_path());
}

// What the program has written without the log.
void SerialFile::sync_rest() noexcept {
  if (!syncs() || broken()) return;
  try {
    flush(place_.below);
    sync();
  } catch (...) {
    connector_->defer(std::current_exception());
  }
}

// What cannot be drained keeps the file open: the program, or HDF5 at its end, closes it once more.
void SerialFile::before_close(const vol::Object& file) {
  if (is(file)) {
    const PrivateErrors own;
    retry(number_);
    close(false);
  }
  if (broken()) throw broken_error();
}

// All data is safe when HDF5 has closed the file, and an error would leave HDF5 with a file that it
// has freed: what goes wrong is logged.
LoggedFile::AfterClose SerialFile::after_close(const vol::Object& file) {
  if (!is(file)) return nullptr;
  auto closed = std::exchange(closed_, {});
  if (!syncs() && !closed) return nullptr;
  return [syncs = syncs(), path = path(), closed = std::move(closed)](bool done) {
    try {
      if (syncs) sidecar::sync_file(path);
    } catch (const std::exception& error) {
      headrace::log(Level::error, error.what());
    }
    if (closed && done) sidecar::start_background_replay(*closed);
  };
}

// By its number: the file of an object behind an external link is another one. Throws Error.
unsigned long SerialFile::number_of_file(const vol::Object& object, H5I_type_t type) const {
  if (type == H5I_FILE && is(object)) return number_;
  const PrivateErrors own;
  if (type == H5I_FILE)
    return vol::number_of({object.under, object.connector->id()}).value_or(number_);
  vol::Identity identity{};
  if (!vol::read_identity(object, identity, nullptr, type))
    throw Error("HDF5 does not tell which file it is to flush");
  return identity.file;
}

// What has failed before is tried once more.
void SerialFile::before_flush(const vol::Object& object, H5I_type_t type) {
  retry(number_);
  if (anything_pending()) prepare_flush(vol::Touched::file(number_of_file(object, type)));
}

void SerialFile::after_flush(const vol::Object& object, H5I_type_t type) {
  if (anything_pending()) keep_all(number_of_file(object, type));
  sync();
  if (broken()) throw broken_error();
}

}  // namespace headrace::log_layout

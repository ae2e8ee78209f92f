// Where the ranks of a file keep what they have logged (canonicalise=later), and read through it.
#include <sys/file.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/error.hpp"
#include "base/report/log.hpp"
#include "comm/agreement.hpp"
#include "layers/log/connector/opening/opening.hpp"
#include "layers/log/connector/ranks/parallel_file.hpp"
#include "layers/log/connector/replaying/replay_target.hpp"
#include "layers/log/connector/state.hpp"
#include "sidecar/folder.hpp"
#include "sidecar/placed/moved_log.hpp"
#include "sidecar/replay_process.hpp"

namespace headrace::log_layout {

using engine::log::LoggedWrites;
using engine::log::Reader;

// Collective, when what is logged is in the logs: all ranks can read all of them from now on.
void ParallelFile::move_logs_beside() {
  if (!apart_) return;
  do_together(*ranks_, [&] {
    if (!store_->leads()) return;
    const auto begun = sidecar::begin_move(store_->own_path());
    if (begun == nullptr) return;
    Throttle unbounded(0);
    sidecar::move_beside(store_->own_path(), unbounded);
    ::flock(begun->get(), LOCK_UN);  // a child of fork() may have the descriptor, too
  });
  do_together(*ranks_, [&] {
    forget_writes();
    reader_.reset();
    store_->find_moved(descriptor_);
  });
  place_.logs_in.clear();
  apart_ = false;
}

void ParallelFile::keep(bool closes) {
  const auto told = tell();
  if (told.empty()) return;
  // Whoever finds the marker finds all logs: they have been there since the file was opened.
  if (!marked_) {
    marked_ = true;  // or a part of it is there: logs too many harm nobody
    do_together(*ranks_, [&] { write_marker(place_.below, owner_); });
  }
  // What the logs say of the file now, the file must have on storage first.
  do_together(*ranks_, [&] {
    flush(place_.below);
    if (place_.sync) sidecar::sync_file(place_.path);
  });
  do_together(*ranks_, [&] {
    closes ? writer().close(place_.sync) : writer().tell_flushed(place_.sync);
    if (place_.sync) sidecar::sync_names(place_.path);
  });
  if (!closes) move_logs_beside();  // where that fails, they are there for a recovery
  wrote_ = false;
  flushed_ = told;
  ++kept_times_;
  others_stale_ = true;
}

void ParallelFile::before_flush(const vol::Object& /*object*/, H5I_type_t /*type*/) {
  if (!logs()) return;
  try {
    later_ ? act_together([&] { keep(false); }) : drain_together();
  } catch (...) {
    connector_->defer(std::current_exception());
  }
}

// Objects that the program leaves open keep the file open below; what is written through them would
// be what the logs are put on top of.
void ParallelFile::stop_at_close(bool ends) noexcept {
  try {
    if (logs() && later_)
      act_together([&] {
        const bool last = ends || only_one_open(place_.below);
        if (ranks_->reduce(last ? 1 : 0, Reduction::min) == 0) return;
        keep(true);
        if (marked_) state_ = State::kept;
      });
    drain_together();
  } catch (...) {
    connector_->defer(std::current_exception());
  }
  end();
}

// The program may have the file by other ids; H5Iget_file_id has made those that have no state, for
// one rank alone perhaps.
void ParallelFile::before_close(const vol::Object& file) {
  if (!file.state.empty()) stop_at_close(false);
}

LoggedFile::AfterClose ParallelFile::after_close(const vol::Object& /*file*/) {
  if (state_ != State::kept || (background_.empty() && !apart_)) return nullptr;
  const auto self = connector_->state.find<FileState>()->file;
  return [this, self](bool closed) { start_background(closed); };
}

void ParallelFile::start_background(bool closed) noexcept {
  const std::string hdf5 = std::exchange(background_, {});
  try {
    const bool all = ranks_->reduce(closed ? 1 : 0, Reduction::min) != 0;
    const sidecar::ClosedFile file{place_.path, store_->own_path(), hdf5, place_.sync,
                                   place_.bandwidth};
    if (all && apart_ && store_->leads())
      sidecar::start_background_move(file);
    else if (all && !apart_ && ranks_->rank() == 0)
      sidecar::start_background_replay(file);
    ranks_->barrier();  // whichever rank opens the file next finds the log locked
  } catch (const std::exception& error) {
    headrace::log(
        Level::warning,
        "file " + place_.path + " may not be put in order in the background: " + error.what());
  }
}

bool ParallelFile::reads_logs() const {
  return !flushed_.empty() ||
         std::ranges::any_of(datasets_, [](const auto& one) { return one.second->pending; });
}

void ParallelFile::forget_writes() {
  for (const auto& [identity, one] : datasets_) one->writes.reset();  // they point into indexes
}

void ParallelFile::read_own() {
  if (log_ == nullptr || has_read_all()) return;
  forget_writes();
  log_->publish(false);
  read_log();
}

// What other ranks have logged since may be seen, too.
void ParallelFile::read_others() {
  if (!others_stale_) return;
  forget_writes();
  for (int rank = 0; rank < static_cast<int>(flushed_.size()); ++rank) {
    const LogStatus& told = flushed_[static_cast<std::size_t>(rank)];
    if (rank == ranks_->rank() || told.writes == 0) continue;
    auto log = others_.find(rank);
    if (log == others_.end())
      log = others_.try_emplace(rank, store_->path_of(rank), store_->storage_of(rank), told.end)
                .first;
    else
      log->second.read_on(told.end);
    require_log(log->second, rank, told);
  }
  others_stale_ = false;
}

std::unique_ptr<LoggedWrites> ParallelFile::read_writes(const Dataset& dataset) const {
  auto writes = std::make_unique<LoggedWrites>();
  const auto add = [&](const Reader& reader) {
    const auto& datasets = reader.index().datasets;
    for (std::uint32_t place = 0; place < datasets.size(); ++place)
      if (is_of(datasets[place], dataset.identity.token)) writes->add(reader, place);
  };
  for (int rank = 0; rank < ranks_->size(); ++rank) {
    const auto other = others_.find(rank);
    if (rank == ranks_->rank() && reader_ != nullptr) add(*reader_);
    if (other != others_.end()) add(other->second.reader());
  }
  return writes;
}

const LoggedWrites* ParallelFile::writes_of(Dataset& dataset) {
  require_whole();
  if (flushed_.empty() && !dataset.pending) return nullptr;
  read_own();
  read_others();
  if (dataset.writes == nullptr) dataset.writes = read_writes(dataset);
  return dataset.writes->empty() ? nullptr : dataset.writes.get();
}

}  // namespace headrace::log_layout

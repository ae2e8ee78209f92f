// Where the ranks of a file write what all of them have logged, each its share.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "comm/agreement.hpp"
#include "engine/log/outline.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/log/connector/ranks/parallel_file.hpp"
#include "layers/log/connector/ranks/replay_together.hpp"
#include "layers/log/connector/replaying/replay_target.hpp"

namespace headrace::log_layout {

std::vector<ParallelFile::LogStatus> ParallelFile::tell() {
  LogStatus mine;
  auto error = failed_;
  if (error == nullptr && log_ != nullptr) error = error_of([&] { log_->publish(false); });
  if (error != nullptr)
    mine.failed = 1;
  else if (log_ != nullptr)
    mine = {log_->writes(), log_->end()};
  mine.wrote = wrote_ ? 1 : 0;
  std::vector<LogStatus> told(static_cast<std::size_t>(ranks_->size()));
  ranks_->all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(told)));
  if (std::ranges::any_of(told, [](const LogStatus& one) { return one.failed != 0; }))
    agree(*ranks_, error);
  if (std::ranges::all_of(told, [](const LogStatus& one) { return one.writes == 0; })) told.clear();
  return told;
}

void ParallelFile::require_log(const sidecar::LogFile& log, int rank, const LogStatus& told) const {
  const engine::log::Reader& reader = log.reader();
  if (reader.owner() != store_->belonging(rank) || reader.end() < told.end ||
      reader.index().write_count < told.writes)
    throw Error("log " + log.path() + " is not what its rank has written");
}

// Collective: each index is read by its rank only.
std::map<int, sidecar::LogFile> ParallelFile::gather_others(const std::vector<LogStatus>& told) {
  std::vector<std::byte> outline;
  do_together(*ranks_, [&] {
    read_own();
    if (reader_ != nullptr) outline = engine::log::outline_of(*reader_);
  });
  auto outlines = ranks_->all_gather_any(outline);
  std::map<int, sidecar::LogFile> logs;
  do_together(*ranks_, [&] {
    for (int rank = 0; rank < ranks_->size(); ++rank) {
      const auto place = static_cast<std::size_t>(rank);
      if (rank == ranks_->rank() || told[place].writes == 0) continue;
      auto storage =
          engine::log::outlined(std::exchange(outlines[place], {}), store_->storage_of(rank));
      const auto [log, made] =
          logs.try_emplace(rank, store_->path_of(rank), std::move(storage), told[place].end);
      require_log(log->second, rank, told[place]);
    }
  });
  return logs;
}

void ParallelFile::act_together(const std::function<void()>& action) {
  if (broken_ != nullptr) require_whole();
  if (is_parents())
    throw Error("file " + place_.path + " is its parent's, who has it open together with others");
  const LibraryContext apart;
  const PrivateErrors own;
  try {
    action();
  } catch (...) {
    broken_ = std::current_exception();
    require_whole();
  }
}

void ParallelFile::drain_together() {
  if (!logs()) return;
  const Id<Kind::plist> together = collective_list();
  act_together([&] { drain_all(together.get()); });
}

void ParallelFile::drain_all(hid_t together) {
  // After a crash amid this what a flush covers is put on top once more: let that be all. Logs of
  // other nodes are found when they are kept.
  if (marked_ || apart_) keep(false);
  const auto told = tell();
  if (told.empty()) return;
  // What others have written past their logs lies between what is logged.
  if (std::ranges::any_of(told, [](const LogStatus& one) { return one.wrote != 0; }))
    do_together(*ranks_, [&] { flush(place_.below); });
  wrote_ = false;
  const std::map<int, sidecar::LogFile> others = gather_others(told);
  Parts parts;
  for (int rank = 0; rank < ranks_->size(); ++rank) {
    const auto other = others.find(rank);
    if (other != others.end()) add_parts(parts, other->second.reader());
    if (rank == ranks_->rank() && reader_ != nullptr) add_parts(parts, *reader_);
  }
  write_together(place_, connector_->shared_from_this(), *ranks_, parts, together,
                 [&](const vol::Identity& identity) { return has_read(identity); });
  do_together(*ranks_, [&] { flush(place_.below); });
  if (marked_) retire_marker_together(place_, owner_, *ranks_);
  marked_ = false;
  // By now no rank reads or writes any log.
  do_together(*ranks_, [&] {
    forget_logged();
    store_->empty(descriptor_, place_.sync);
    note_emptied();
  });
  // A file of many logs says no more whose they are.
  if (later_ && store_->by_node()) do_together(*ranks_, [&] { writer().publish(place_.sync); });
}

void ParallelFile::forget_logged() {
  flushed_.clear();
  others_.clear();
  reader_.reset();
  log_.reset();
  for (const auto& [identity, one] : datasets_) {
    one->pending = false;
    one->writes.reset();
  }
}

void ParallelFile::stop() {
  drain_together();
  end();
}

}  // namespace headrace::log_layout

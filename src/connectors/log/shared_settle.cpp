// Where the ranks of a file write what all of them have logged, each its share.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "connectors/log/agreement.hpp"
#include "connectors/log/shared_file.hpp"
#include "connectors/log/sidecar.hpp"
#include "connectors/log/target.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::log_layout {

std::vector<SharedFile::Told> SharedFile::tell() {
  Told mine;
  auto error = failed_;
  if (error == nullptr && log_ != nullptr) error = error_of([&] { log_->publish(false); });
  if (error != nullptr)
    mine.failed = 1;
  else if (log_ != nullptr)
    mine = {log_->writes(), log_->end(), 0};
  std::vector<Told> told(static_cast<std::size_t>(ranks_->size()));
  ranks_->all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(told)));
  if (std::ranges::any_of(told, [](const Told& one) { return one.failed != 0; }))
    agree(*ranks_, error);
  if (std::ranges::all_of(told, [](const Told& one) { return one.writes == 0; })) told.clear();
  return told;
}

LogFile SharedFile::open_log_of(int rank) const {
  LogFile log(open_rank_log(place_.path, owner_, rank), rank_log_path(place_.path, owner_, rank));
  if (log.reader().owner() != belonging(rank))
    throw Error("log " + log.path() + " is not that of its rank");
  return log;
}

void SharedFile::act_together(const std::function<void()>& action) {
  if (broken_ != nullptr) require_whole();
  if (process_ != ::getpid())
    throw Error("file " + place_.path + " is its parent's, who has it open together with others");
  const LibraryContext apart;
  const Aside aside;
  try {
    action();
  } catch (...) {
    broken_ = std::current_exception();
    require_whole();
  }
}

void SharedFile::settle() {
  if (!logs_) return;
  const Id<Kind::plist> together = collective_list();
  act_together([&] { settle_all(together.get()); });
}

void SharedFile::settle_all(hid_t together) {
  const auto told = tell();
  if (told.empty()) return;
  std::vector<LogFile> logs;
  Parts parts;
  do_together(*ranks_, [&] {
    for (int rank = 0; rank < ranks_->size(); ++rank) {
      const Told& one = told[static_cast<std::size_t>(rank)];
      if (one.writes == 0) continue;
      const auto& reader = logs.emplace_back(open_log_of(rank)).reader();
      if (reader.end() != one.end || reader.index().writes.size() != one.writes)
        throw Error("log " + logs.back().path() + " is not what its rank has written");
      add_parts(parts, reader);
    }
  });
  write_together(place_, connector_->shared_from_this(), *ranks_, parts, together,
                 [&](const vol::Identity& identity) { return has_read(identity); });
  do_together(*ranks_, [&] { marked_ ? retire_marker(place_, owner_) : flush(place_.below); });
  marked_ = false;
  do_together(*ranks_, [&] { empty(); });
}

void SharedFile::empty() {
  flushed_.clear();
  others_.clear();
  reader_.reset();
  log_.reset();
  for (const auto& [identity, one] : datasets_) {
    one->pending = false;
    one->layers.reset();
  }
  empty_log(descriptor_, rank_log_path(place_.path, owner_, ranks_->rank()), place_.sync);
}

void SharedFile::stop() {
  settle();
  end();
}

}  // namespace headrace::log_layout

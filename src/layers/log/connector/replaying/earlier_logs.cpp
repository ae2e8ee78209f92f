#include "layers/log/connector/replaying/earlier_logs.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/report/log.hpp"
#include "base/report/printable.hpp"
#include "hdf5/error_stack.hpp"
#include "hdf5/report/events.hpp"
#include "layers/log/connector/opening/opened_object.hpp"
#include "layers/log/connector/opening/opening.hpp"
#include "layers/log/connector/replaying/fit.hpp"
#include "layers/log/connector/replaying/logged_object.hpp"
#include "layers/log/connector/replaying/replay.hpp"
#include "layers/log/settings.hpp"
#include "sidecar/folder.hpp"
#include "sidecar/node_logs.hpp"
#include "sidecar/placed/placed_log.hpp"
#include "sidecar/rank_logs.hpp"
#include "vol/chunks/layout.hpp"

namespace headrace::log_layout {
namespace {

using engine::log::LoggedDataset;
using engine::log::LoggedWrites;

// Whether the dataset has the name that it had when it was logged, if it had one then.
bool is_there(const OpenFile& place, const LoggedDataset& logged) {
  constexpr std::size_t kCutOff = 1023;  // the longest that vol::name_of() tells
  if (logged.name.empty() || logged.name.size() >= kCutOff) return true;
  H5VL_loc_params_t where{H5I_FILE, H5VL_OBJECT_BY_NAME, {}};
  where.loc_data.loc_by_name = {logged.name.c_str(), h5.default_lists.front().get()};
  const OpenedObject opened(place.below, where);
  const auto number = number_of(place.below);
  return opened.under() != nullptr && opened.type() == H5I_DATASET && number &&
         opened.in_file(*number) && is_of(logged, opened.token());
}

// The first filter of a dataset that may give other values back than it was given; else empty.
std::string inexact_filter(const vol::Object& dataset) {
  const auto dcpl = vol::creation_list(dataset);
  const auto filters = vol::filters_of(dcpl.get());
  const auto found = filters ? vol::inexact_filter(*filters) : std::nullopt;
  return found ? found->name + " (filter " + std::to_string(found->id) + ')' : "";
}

bool has_before(const engine::log::Index& index, std::uint32_t dataset, std::uint64_t end) {
  const auto& writes = index.writes[dataset];
  return !writes.empty() && writes.front().epoch < end;
}

std::uint64_t bytes_from(const engine::log::Index& index, std::uint64_t end) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < index.datasets.size(); ++i)
    for (const engine::log::LoggedWrite& write : index.writes[i])
      if (write.epoch >= end)
        bytes += index.patterns[write.pattern].elements() * index.datasets[i].kind->element;
  return bytes;
}

}  // namespace

void retire_marker(const OpenFile& place, const engine::log::Owner& owner) {
  // Until all of the data is in the file the marker says that it is not.
  flush(place.below);
  if (place.sync) sidecar::sync_file(place.path);
  // A program may have removed it, or put something else in its place.
  if (marks(place.below, owner)) remove_marker(place.below);
  flush(place.below);
  if (place.sync) sidecar::sync_file(place.path);
}

void retire(const OpenFile& place, const engine::log::Owner& owner) {
  retire_marker(place, owner);
  sidecar::remove_log(sidecar::log_path(place.path, owner));
}

EarlierLogs::EarlierLogs(OpenFile place, const engine::log::Owner& owner, const LogOptions& options,
                         int rank, int ranks)
    : place_(std::move(place)), owner_(owner) {
  open();
  end_ = first_uncovered();
  int number = 0;
  for (const sidecar::LogFile& log : logs_) {
    try {
      if (number++ % ranks == rank)
        if (const auto damage = log.reader().damage()) throw Error(*damage);
      if (!options.recover) require_closed(log);
      find_datasets(log, options.skip_missing);
    } catch (const std::exception& error) {  // one text: programs show the innermost cause only
      throw Error("log " + log.path() + " cannot be used: " + error.what());
    }
  }
  report_uncovered();
  if (missing_ > 0) report("missing_datasets", missing_);
}

// ID.log, or ID.0.log and as many more as that says; or those in ID.n0.log and as many more.
void EarlierLogs::open() {
  std::string path = sidecar::log_path(place_.path, owner_);
  if (!sidecar::has_name(path) &&
      sidecar::has_name(sidecar::rank_log_path(place_.path, owner_, 0, sidecar::Lifetime::kept)))
    path = sidecar::rank_log_path(place_.path, owner_, 0, sidecar::Lifetime::kept);
  of_ranks_ = path != sidecar::log_path(place_.path, owner_);
  if (!sidecar::has_name(path) && sidecar::has_node_logs(place_.path, owner_)) {
    of_ranks_ = true;
    logs_ = sidecar::logs_of_nodes(place_.path, owner_);
    return;
  }
  std::uint32_t ranks = 1;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (rank > 0)
      path = sidecar::rank_log_path(place_.path, owner_, static_cast<int>(rank),
                                    sidecar::Lifetime::kept);
    sidecar::require_readable(path);
    try {
      const auto belonging = logs_.emplace_back(path).reader().owner();
      if (rank == 0 && belonging) ranks = belonging->ranks;
      if (belonging != engine::log::Belonging{owner_, rank, ranks})
        throw Error("it belongs to another file");
    } catch (const std::exception& error) {
      throw Error("log " + path + " cannot be used: " + error.what());
    }
  }
}

// A rank that reads what it has just written has an index before the file has what that speaks of.
// Ranks say that an epoch is over when HDF5 has flushed the file for all of them, and close their
// logs after that.
std::uint64_t EarlierLogs::first_uncovered() const {
  const auto is_closed = [](const sidecar::LogFile& log) { return log.reader().closed(); };
  if (!of_ranks_ || std::ranges::any_of(logs_, is_closed)) return ~std::uint64_t{0};
  std::uint64_t end = 0;
  for (const sidecar::LogFile& log : logs_) end = std::max(end, log.reader().index().epoch);
  return end;
}

void EarlierLogs::require_closed(const sidecar::LogFile& log) const {
  if (!log.reader().closed())
    throw Error("the program that wrote file " + place_.path +
                " did not close it; `headrace recover` takes what its flushes cover");
}

void EarlierLogs::report_uncovered() const {
  std::uint64_t all = 0;
  for (const sidecar::LogFile& log : logs_) {
    const std::uint64_t uncovered =
        log.reader().closed()
            ? 0
            : log.size() - log.reader().covered() + bytes_from(log.reader().index(), end_);
    if (uncovered == 0) continue;
    headrace::log(Level::warning, "log " + log.path() + " has " + std::to_string(uncovered) +
                                      " bytes that no flush of the program covers");
    all += uncovered;
  }
  if (all > 0) report("uncovered_bytes", all);
}

void EarlierLogs::report(std::string_view name, std::uint64_t value) const {
  const std::array<std::pair<std::string_view, std::uint64_t>, 1> told{{{name, value}}};
  report_statistics(Seat::vol, "headrace_log", place_.path, told);
}

// A dataset that was deleted may have another one in its place, which nothing but the name tells.
void EarlierLogs::find_datasets(const sidecar::LogFile& log, bool skip_missing) {
  const auto& index = log.reader().index();
  for (std::uint32_t i = 0; i < index.datasets.size(); ++i) {
    const LoggedDataset& logged = index.datasets[i];
    if (!has_before(index, i, end_)) continue;
    if (is_there(place_, logged)) {
      parts_[logged.token].push_back({&log.reader(), i, end_});
      continue;
    }
    if (!skip_missing)
      throw Error("dataset " + printable(logged.name) + " of the log is not in file " +
                  place_.path +
                  " under that name any more. If it has another name now, give it back the old "
                  "one; if the file was made from another one, as h5repack does, the log is that "
                  "one's; if the dataset was deleted, `headrace replay --skip-missing` drops what "
                  "the log holds of it");
    ++missing_;
    headrace::log(Level::warning, "dataset " + printable(logged.name) + " of log " + log.path() +
                                      " is not in file " + place_.path);
  }
}

void EarlierLogs::replay(const vol::UnderRef& connector, bool verify) const {
  Throttle throttle(place_.bandwidth);
  for (const auto& [token, parts] : parts_) {
    with_dataset(connector, parts, [&](Dataset& dataset, const LoggedWrites& writes) {
      log_layout::replay(dataset, writes, throttle);
      dataset.flush();  // others may have it open, so that closing it does not
    });
    if (!verify)
      report_replayed(Seat::vol, "headrace_log", place_.path,
                      printable(parts.front().logged().name));
  }
  flush(place_.below);
  if (verify) this->verify(connector);
  retire_marker(place_, owner_);
  remove();
}

void EarlierLogs::remove() const {
  std::set<std::string> paths;  // one may have many logs
  for (const sidecar::LogFile& log : logs_) paths.insert(log.path());
  for (const std::string& path : paths) sidecar::remove_log(path);
}

void EarlierLogs::verify(const vol::UnderRef& connector, int rank, int ranks) const {
  int number = 0;
  for (const auto& [token, parts] : parts_) {
    if (number++ % ranks != rank) continue;
    const std::string name = printable(parts.front().logged().name);
    // Opened anew: it comes from the file.
    with_dataset(connector, parts, [&](Dataset& dataset, const LoggedWrites& held) {
      const std::string filter = inexact_filter(*dataset.handle);
      if (filter.empty()) return log_layout::verify(dataset, held);
      report_unverified(Seat::vol, "headrace_log", place_.path, name, filter);
    });
    report_replayed(Seat::vol, "headrace_log", place_.path, name);
  }
}

template <typename Action>
void EarlierLogs::with_dataset(const vol::UnderRef& connector, const std::vector<Part>& parts,
                               const Action& action) const {
  LoggedWrites writes = writes_in(parts);
  if (writes.empty()) return;
  LoggedObject logged(place_, connector, parts, std::move(writes));
  try {
    action(logged.dataset(), logged.writes());
  } catch (const Error& error) {  // HDF5 does not know the name of what was opened by its token
    throw Error("replaying " + logged.name() + " failed: " + error.what());
  }
  logged.close();
}

bool EarlierLogs::holds(const H5O_token_t& token) const { return parts_.contains(token_of(token)); }

std::unique_ptr<LoggedWrites> EarlierLogs::writes_of(const Dataset& dataset) const {
  const auto found = parts_.find(token_of(dataset.identity.token));
  if (found == parts_.end()) return nullptr;
  auto writes = std::make_unique<LoggedWrites>(writes_in(found->second));
  for (const Part& part : found->second) require_fit(dataset, part.logged(), *writes, place_.path);
  return writes->empty() ? nullptr : std::move(writes);
}

}  // namespace headrace::log_layout

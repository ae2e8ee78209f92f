// The logs that an earlier program has left, of a file that is open: one of each rank.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/log/logged_writes.hpp"
#include "layers/log/connector/file/dataset.hpp"
#include "layers/log/connector/file/open_file.hpp"
#include "layers/log/connector/opening/marker.hpp"
#include "layers/log/connector/replaying/parts.hpp"
#include "layers/log/settings.hpp"
#include "sidecar/log_file.hpp"

namespace headrace::log_layout {

// What a log held is in the file: says so there, where it is `retire` then removes the log. Throws
// Error.
void retire_marker(const OpenFile& place, const engine::log::Owner& owner);
void retire(const OpenFile& place, const engine::log::Owner& owner);

class EarlierLogs {
 public:
  EarlierLogs(const EarlierLogs&) = delete;
  EarlierLogs& operator=(const EarlierLogs&) = delete;
  ~EarlierLogs() = default;

  // The logs that the file's marker names. Throws Error, with the cause, when one is not there, is
  // another file's, is damaged, or, unless we `recover`, of a program that did not close the file;
  // or, unless we `skip_missing`, has data of datasets that are not in the file.
  // Of ranks that do this together, and agree on the outcome, each reads the data of some logs.
  EarlierLogs(OpenFile place, const engine::log::Owner& owner, const LogOptions& options,
              int rank = 0, int ranks = 1);

  // Writes all that the logs hold to the datasets and retires them; with `verify` compares first.
  // Throws Error; then the logs remain.
  void replay(const vol::UnderRef& connector, bool verify) const;
  // What that does with each dataset, and with the logs, for ranks that write together.
  [[nodiscard]] const Parts& parts() const { return parts_; }
  // Of ranks that do this together each compares some datasets.
  void verify(const vol::UnderRef& connector, int rank = 0, int ranks = 1) const;
  void remove() const;

  [[nodiscard]] bool holds(const H5O_token_t& token) const;
  // What there is of a dataset; null when nothing is. Throws Error when that does not fit.
  [[nodiscard]] std::unique_ptr<engine::log::LoggedWrites> writes_of(const Dataset& dataset) const;

 private:
  void open();
  void require_closed(const sidecar::LogFile& log) const;
  void report_uncovered() const;
  [[nodiscard]] std::uint64_t first_uncovered() const;
  void find_datasets(const sidecar::LogFile& log, bool skip_missing);
  void report(std::string_view name, std::uint64_t value) const;
  template <typename Action>
  void with_dataset(const vol::UnderRef& connector, const std::vector<Part>& parts,
                    const Action& action) const;

  OpenFile place_;
  engine::log::Owner owner_;
  std::vector<sidecar::LogFile> logs_;  // by rank
  bool of_ranks_ = false;
  std::uint64_t end_ = 0;      // the first epoch that no flush has covered
  std::uint64_t missing_ = 0;  // parts that are not in the file
  Parts parts_;                // the others
};

}  // namespace headrace::log_layout

// A file over MPI that writes are logged of, as one of its ranks has it.
//
// Each rank appends to its own log, and calls no other rank for that. What is collective here says
// so: all ranks that have the file open make these calls together, where HDF5 demands that of the
// program. What they depend on is the same on all ranks: whether writes are logged above all.
#pragma once

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "engine/log/logged_writes.hpp"
#include "layers/log/connector/file/logged_file.hpp"
#include "layers/log/settings.hpp"
#include "sidecar/log_file.hpp"

namespace headrace::log_layout {

// The communicator of a file that ranks are opening, made before HDF5 opens it: a rank that fails
// there must not leave the others waiting. Collective. Null for other files. Whatever is wanted
// here: other ranks may want another thing.
CommunicatorHandle ranks_of(hid_t fapl, LogsPer wanted);
// Collective: whether all of them have the file. Throws where a rank cannot use it (`refusal`,
// which may be none), on all that have it; or where logs wait for it that only all could put in
// order.
bool agree_on_use(Communicator& ranks, const vol::Object* file, bool marked,
                  const std::exception_ptr& refusal);

class ParallelFile final : public LoggedFile {
 public:
  // Collective, when HDF5 has opened the file for writing: logs writes if all ranks can. Drains the
  // logs first that the file's marker names, if there is one.
  static void opened(const vol::Object& file, const char* name, hid_t fapl,
                     CommunicatorHandle ranks, const LogOptions& options,
                     const std::optional<engine::log::Owner>& marker);

  // Collective, before HDF5 opens the file once more: handles of one file do not know of each
  // other. Null: it is not over MPI. Throws Error when other ranks than these have it open with
  // logs, which only they could drain.
  static void stop_others(const char* name, Communicator* ranks);
  // Whether the file of that name is one that is open with logs: HDF5 may have it open twice, by
  // several numbers.
  static bool is_logged(const std::string& name);

  [[nodiscard]] bool of_ranks() const override { return true; }
  // Whether the node's storage has room for so much more in this rank's log. One file for all
  // ranks of the node grows as any of them does: what the storage has left then, for all of them.
  [[nodiscard]] bool has_room(std::uint64_t bytes);
  // Of this rank's log, and those that all ranks know of; this is no child of fork().
  void require_whole() const override;
  void require_agreed() const override;
  std::shared_ptr<Dataset> find(vol::Object& handle) override;
  void ask_early(vol::Object& handle, bool made) override;
  // What this rank's log holds of the dataset, and those of others that have been flushed and not
  // drained.
  [[nodiscard]] bool reads_logs() const override;
  const engine::log::LoggedWrites* writes_of(Dataset& dataset) override;
  [[nodiscard]] const char* until() const override;
  bool log_rows(Write& write) override;
  // Collective, for calls that ranks make together.
  void publish_together() override { drain_together(); }
  void stop_before(const vol::Effects& effects) override;
  void leave_unnamed() override { stop(); }
  void before_reshape(const Dataset& dataset) override;
  void after_reshape(bool done) override;
  // All of it is in the datasets, or (canonicalise=later) in logs that survive a crash.
  void before_flush(const vol::Object& object, H5I_type_t type) override;
  void after_flush(const vol::Object& /*object*/, H5I_type_t /*type*/) override {}
  void before_close(const vol::Object& file) override;
  // Starts a process that drains the logs (canonicalise=background), unless a rank could not close
  // the file.
  AfterClose after_close(const vol::Object& file) override;

  // Calls append(log, place of the dataset). What it throws is this rank's error of every later
  // call, and all ranks' error where they drain next.
  using Append = std::function<void(engine::log::Writer& log, std::uint32_t place)>;
  void add(Dataset& dataset, vol::Object& handle, const Append& append);
  // Whether logs may hold anything of the dataset that is to be put on top of it: this rank's, or,
  // when they have been flushed, those of others.
  [[nodiscard]] bool may_hold(const Dataset& dataset) const {
    return dataset.pending || (!flushed_.empty() && dataset.over_ranks.made_in != kept_times_);
  }
  // HDF5 has written for this rank alone what is not logged.
  void note_written() { wrote_ = true; }

  // Collective: all that the ranks have logged is in the datasets, for all of them. Throws Error,
  // on all ranks if on one. Does nothing when no writes are logged.
  void drain_together();
  // Collective: and from now on all is left to HDF5.
  void stop();
  // Collective: the program closes the file, or HDF5 `ends`: logs are kept or drained. What goes
  // wrong is deferred to the end of H5Fclose.
  void stop_at_close(bool ends) noexcept;

  ParallelFile(vol::UnderConnector& connector, OpenFile place, Canonicalise when,
               CommunicatorHandle ranks);
  ParallelFile(const ParallelFile&) = delete;
  ParallelFile& operator=(const ParallelFile&) = delete;
  ParallelFile(ParallelFile&&) = delete;
  ParallelFile& operator=(ParallelFile&&) = delete;
  ~ParallelFile() override;

 private:
  // What a rank says of its log.
  struct LogStatus {
    std::uint64_t writes = 0;
    std::uint64_t end = 0;
    std::uint64_t failed = 0;
    std::uint64_t wrote = 0;  // something past it
  };
  bool begin(const engine::log::Owner& owner, const std::vector<int>& nodes);
  void act_together(const std::function<void()>& action);
  // Collective: what each rank's log file has then; empty when there is nothing.
  std::vector<LogStatus> tell();
  void drain_all(hid_t together);
  void move_logs_beside();
  void keep(bool closes);
  void forget_logged();
  void end() noexcept;
  void rethrow(const std::exception_ptr& cause) const;
  // Collective: starts the process, if all ranks have closed the file.
  void start_background(bool closed) noexcept;

  // Throws Error unless the log has what its rank has told of it.
  void require_log(const sidecar::LogFile& log, int rank, const LogStatus& told) const;
  std::map<int, sidecar::LogFile> gather_others(const std::vector<LogStatus>& told);
  void read_own();
  void read_others();
  void forget_writes();
  [[nodiscard]] std::unique_ptr<engine::log::LoggedWrites> read_writes(
      const Dataset& dataset) const;
  // Whether HDF5 may have chunks of a filtered dataset in memory, see there.
  [[nodiscard]] bool has_read(const vol::Identity& identity) const;

  CommunicatorHandle ranks_;
  bool apart_ = false;                      // ranks do not find the logs of other nodes
  std::exception_ptr failed_;               // of this rank's log
  std::exception_ptr broken_;               // of all ranks
  std::vector<LogStatus> flushed_;          // what the logs of all held at the last flush
  std::map<int, sidecar::LogFile> others_;  // those of other ranks
  bool others_stale_ = false;               // are to be read on
  std::uint64_t kept_times_ = 1;            // flushes that kept logs, and one
  bool wrote_ = false;                      // see note_written(), since the last flush
};

// Of one whose file is over MPI.
inline ParallelFile& file_of(const Dataset& dataset) {
  return static_cast<ParallelFile&>(*dataset.file);
}

}  // namespace headrace::log_layout

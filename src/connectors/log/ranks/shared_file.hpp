// A file over MPI that writes are logged of, as one of its ranks has it.
//
// Each rank appends to its own log, and calls no other rank for that. What is collective here says
// so: all ranks that have the file open make these calls together, where HDF5 demands that of the
// program. What they depend on is the same on all ranks: whether writes are logged above all.
#pragma once

#include <unistd.h>

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "connectors/log/file/dataset.hpp"
#include "connectors/log/replaying/earlier_logs.hpp"
#include "connectors/log/settings.hpp"
#include "engine/log/layers.hpp"
#include "engine/log/writer.hpp"
#include "sidecar/log_file.hpp"
#include "sidecar/log_store.hpp"

namespace headrace::log_layout {

class SharedFile;

// For all handles of a dataset.
struct SharedDataset {
  std::shared_ptr<Dataset> elements;
  SharedFile* file = nullptr;
  std::optional<std::string> name;              // where it had to be asked for early
  std::uint64_t made_in = 0;                    // when, in flushes that kept logs; 0: not known
  bool pending = false;                         // whether there is anything in this rank's log
  std::unique_ptr<engine::log::Layers> layers;  // what logs held of it when they were last read

  // Has chunks that HDF5 codes. It keeps those in memory that this rank has `read`, and does not
  // know when ranks write them together: then they are to be read anew.
  bool filtered = false;
  bool read = false;
};

// The communicator of a file that ranks are opening, made before HDF5 opens it: a rank that fails
// there must not leave the others waiting. Collective. Null for other files. Whatever the options:
// other ranks may have others.
CommunicatorHandle ranks_of(hid_t fapl, const Options& options);
// Collective: whether all of them have the file. Throws where a rank cannot use it (`refusal`,
// which may be none), on all that have it; or where logs wait for it that only all could put in
// order.
bool agree_on_use(Communicator& ranks, const vol::Object* file, bool marked,
                  const std::exception_ptr& refusal);

// The application's thread only.
class SharedFile {
 public:
  // Null for a file that is left to HDF5 from its beginning.
  static SharedFile* of(const vol::UnderConnector& connector);
  // Collective, when HDF5 has opened the file for writing: logs writes if all ranks can. Puts the
  // logs in order first that the file's marker names, if there is one.
  static void opened(const vol::Object& file, const char* name, hid_t fapl,
                     CommunicatorHandle ranks, const LogOptions& options,
                     const std::optional<engine::log::Owner>& marker);

  // Collective, before HDF5 opens the file once more: handles of one file do not know of each
  // other. Null: it is not over MPI. Throws Error when other ranks than these have it open with
  // logs, which only they could put in order.
  static void stop_others(const char* name, Communicator* ranks);

  // The same on all ranks.
  [[nodiscard]] bool logs() const { return logs_; }
  // Throws Error when a log could not be written or put in order, or this is a child of fork(): the
  // log is its parent's.
  void require_whole() const;
  // The same of what all ranks know: before calls that they make together.
  void require_agreed() const;
  [[nodiscard]] bool is(unsigned long number) const { return number == number_; }
  // Whether the file of that name is one that is open with logs: HDF5 may have it open twice, by
  // several numbers.
  static bool is_logged(const std::string& name);

  // The dataset of a handle as it is known already, or the new one from now on.
  std::shared_ptr<SharedDataset> know(std::shared_ptr<Dataset> dataset, const vol::Object& handle);
  // Calls append(log, place of the dataset). What it throws is this rank's error of every later
  // call, and all ranks' error where they settle next.
  using Append = std::function<void(engine::log::Writer& log, std::uint32_t place)>;
  void add(SharedDataset& dataset, vol::Object& handle, const Append& append);
  // Whether logs may hold anything of the dataset that is to be put on top of it: this rank's, or,
  // when they have been flushed, those of others.
  [[nodiscard]] bool may_hold(const SharedDataset& dataset) const {
    return dataset.pending || (!flushed_.empty() && dataset.made_in != kept_times_);
  }
  // HDF5 has written for this rank alone what is not logged.
  void note_written() { wrote_ = true; }
  // The program has made a dataset.
  void note_made(SharedDataset& dataset) const { dataset.made_in = kept_times_; }
  // What this rank's log holds of the dataset, and those of others that have been flushed and not
  // put in order; null when it is nothing. Throws Error.
  const engine::log::Layers* logged(SharedDataset& dataset);
  // Whether that is anything of any dataset.
  [[nodiscard]] bool any_logged() const;
  // Whether HDF5 may have chunks of a filtered dataset in memory, see there.
  [[nodiscard]] bool has_read(const vol::Identity& identity) const;

  // Collective: all that the ranks have logged is in the datasets, for all of them. Throws Error,
  // on all ranks if on one. Does nothing when no writes are logged.
  void settle();
  // Collective: the same, or (canonicalise=later) all of it is in logs that survive a crash. What
  // goes wrong is deferred to the end of H5Fflush or to H5Fclose.
  void settle_or_keep_at_flush() noexcept;
  // Collective: and from now on all is left to HDF5, which `ends` perhaps.
  void stop();
  void stop_at_close(bool ends) noexcept;
  // Of a file that HDF5 is about to close, when a process is to put its logs in order after that
  // (canonicalise=background); else null. The same on all ranks.
  static std::shared_ptr<SharedFile> awaiting_background(const vol::UnderConnector& connector);
  // Collective: starts it, unless a rank could not close the file.
  void start_background(bool closed) noexcept;
  // Collective: HDF5 has cut chunks, unless it could not on a rank. It keeps them changed in the
  // memory of all ranks, and would write them later over what has been written to the file since.
  void write_cut_chunks(bool cut);
  // Collective: a link gets another name. Logs that are kept find datasets by their names.
  void forget_names();

  SharedFile(vol::UnderConnector& connector, OpenFile place, CommunicatorHandle ranks);
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  ~SharedFile();

 private:
  // What a rank says of its log.
  struct LogStatus {
    std::uint64_t writes = 0;
    std::uint64_t end = 0;
    std::uint64_t failed = 0;
    std::uint64_t wrote = 0;  // something past it
  };
  bool begin(const engine::log::Owner& owner, bool later, const std::vector<int>& nodes);
  void act_together(const std::function<void()>& action);
  // Collective: what each rank's log file has then; empty when there is nothing.
  std::vector<LogStatus> tell();
  void settle_all(hid_t together);
  void keep(bool closes);
  void forget_logged();
  void end() noexcept;
  void rethrow(const std::exception_ptr& cause) const;

  [[nodiscard]] engine::log::Belonging belonging(int rank) const {
    return {owner_, static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(ranks_->size())};
  }
  engine::log::Writer& log();
  // Throws Error unless the log has what its rank has told of it.
  void require_log(const sidecar::LogFile& log, int rank, const LogStatus& told) const;
  std::map<int, sidecar::LogFile> gather_others(const std::vector<LogStatus>& told);
  void read_own();
  void read_others();
  void forget_layers();
  [[nodiscard]] std::unique_ptr<engine::log::Layers> layers_of(const Dataset& dataset) const;

  vol::UnderConnector* connector_;  // which keeps this
  pid_t process_ = ::getpid();      // the children of which have no part in it
  OpenFile place_;
  CommunicatorHandle ranks_;
  unsigned long number_ = 0;  // HDF5's
  bool logs_ = false;
  bool asks_together_ = false;  // HDF5 has ranks wait for each other to read metadata
  bool later_ = false;          // flushes and closes keep the logs
  bool marked_ = false;         // the file says that they belong to it
  bool kept_ = false;           // and it is closed
  std::string background_;      // libhdf5, where a process is to put them in order then
  std::exception_ptr failed_;   // of this rank's log
  std::exception_ptr broken_;   // of all ranks

  engine::log::Owner owner_{};
  std::unique_ptr<sidecar::LogStore> logs_of_;  // where they are
  int descriptor_ = -1;
  std::unique_ptr<engine::log::Writer> log_;
  std::unique_ptr<engine::log::Reader> reader_;  // of that
  std::vector<LogStatus> flushed_;               // what the logs of all held at the last flush
  std::map<int, sidecar::LogFile> others_;       // those of other ranks
  bool others_stale_ = false;                    // are to be read on
  std::uint64_t kept_times_ = 1;                 // flushes that kept logs, and one
  bool wrote_ = false;                           // see note_written(), since the last flush
  std::map<vol::Identity, std::shared_ptr<SharedDataset>> datasets_;
};

// The dataset behind a handle; null when it is left to HDF5. Asks HDF5 on the first call for a
// handle, which is to be when the program opens it: where metadata is read collectively only then
// do all ranks ask. Later on, and in what it makes of the answers, no rank waits for another.
SharedDataset* shared_dataset_of(vol::Object& object);
// That first call, of a dataset that the program has opened, or `made`. Errors are those of later
// calls.
void ask_early(vol::Object& object, bool made) noexcept;

}  // namespace headrace::log_layout

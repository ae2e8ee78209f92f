// A file that one process has open, of which writes are logged.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "engine/log/room.hpp"
#include "layers/log/connector/file/logged_file.hpp"
#include "layers/log/connector/replaying/earlier_logs.hpp"
#include "layers/log/connector/serial/all_files.hpp"
#include "layers/log/settings.hpp"
#include "sidecar/replay_process.hpp"

namespace headrace::log_layout {

class SerialFile final : public LoggedFile {
 public:
  // To be called when the program has opened a file, with its arguments. What an earlier program
  // has left in logs is put in order now if that is possible. Throws Error when it is neither
  // possible nor are reads of it. Where ranks open the file for writing (`by_ranks`), they do that
  // together: returns what names the logs. Files over MPI and for SWMR are left to HDF5. The file
  // is known as one opened by the program, and by its absolute `path`.
  struct Opening {
    const char* name;
    unsigned flags;
    bool created;
    hid_t fapl;
    [[nodiscard]] bool writes() const { return created || (flags & vol::kReadWrite) != 0; }
  };
  static std::optional<engine::log::Owner> opened(const vol::Object& file, const Opening& opening,
                                                  const std::string& path, bool by_ranks,
                                                  const LogOptions& options);

  [[nodiscard]] bool of_ranks() const override { return false; }
  [[nodiscard]] bool logs() const override;
  // Throws Error when this is a child of fork() to which writes are lost, too.
  void require_whole() const override;
  std::shared_ptr<Dataset> find(vol::Object& handle) override;
  [[nodiscard]] bool has_stored() const override { return stored_ != nullptr; }
  void ask_early(vol::Object& handle, bool made) override;
  [[nodiscard]] const char* until() const override;
  bool log_rows(Write& write) override;
  void stop_before(const vol::Effects& effects) override;
  void before_flush(const vol::Object& object, H5I_type_t type) override;
  void after_flush(const vol::Object& object, H5I_type_t type) override;
  void before_close(const vol::Object& file) override;
  AfterClose after_close(const vol::Object& file) override;

  // From now on the file is left to HDF5. Nothing may be pending.
  void stop() { state_ = state_ == State::lost ? State::lost : State::left; }

  // Where the data and the index of a write go. Throws Error when there is no room for a log.
  engine::log::Writer& log();
  // To be called after a write: the memory that the log takes is bounded. What goes wrong is
  // deferred.
  void limit_memory() noexcept;
  // Before so many bytes are logged, for which datasets expect so much more in the file: whether
  // the file system has room for the log and for all that.
  [[nodiscard]] bool has_room(std::uint64_t bytes, std::uint64_t expected);
  // The dataset of a write that is being added to the log, through one of its handles.
  void note_pending(Dataset& dataset, vol::Object& handle);

  // Whether the program means this file by that name.
  [[nodiscard]] bool is_called(const char* name) const;
  // Whether something may be in the log of the dataset of a handle.
  [[nodiscard]] bool may_hold(const vol::Object& dataset) const;
  // Whether something of a dataset in that file, or of what is touched, is in the log.
  [[nodiscard]] bool holds(unsigned long number) const;
  [[nodiscard]] bool is_touched(const vol::Touched& touched) const;
  // Whether the program has closed a dataset that something is logged of.
  [[nodiscard]] bool has_closed() const;
  // Whether there is a log now that outlives the program. Without its marker nobody would find it,
  // and programs may remove any attribute.
  [[nodiscard]] bool keeps_log() const noexcept;
  // Writes to the datasets what is in the log and HDF5 has not got yet, so that its reads find all.
  // The log keeps it, as HDF5 may have it in memory, and loses chunks that it cannot write. A log
  // that outlives the program is drained. What goes wrong is the error of all calls that read,
  // write, flush or close the file, until a flush or close has drained the log.
  void replay() noexcept;
  // Whether HDF5 has got all of it.
  [[nodiscard]] bool all_replayed() const { return log_ == nullptr || replayed_ == log_->writes(); }
  // To be called when HDF5 has failed: it may have lost what it has been given.
  void replay_again();
  // Replays, and has HDF5 flush the file; then nothing is in the log. What goes wrong is told as
  // that of replay().
  void drain() noexcept;
  // Whether the log has anything of the dataset that HDF5 has not got, and reads may look into it.
  [[nodiscard]] bool holds_anew(const Dataset& dataset) const {
    return dataset.pending && !marked_ && !all_replayed();
  }
  // What of that reads of those rows need; null where it takes longer to look through the log than
  // to replay it.
  const engine::log::LoggedWrites* logged(Dataset& dataset,
                                          std::span<const engine::Run> rows) noexcept;
  // The library ends: what could not be drained is lost, unless the log outlives the program.
  void give_up() noexcept;
  // HDF5's flush of the file passes over datasets that the program has closed and the log has not.
  // What goes wrong is deferred.
  void flush_closed() noexcept;
  // A log that outlives the program has all that was logged, and when the program `closes` the file
  // says so. To be called when HDF5 has flushed the file. Throws Error.
  void keep(bool closes);
  // The program closes the file, or the process `ends`. A log that outlives the program is kept, if
  // nobody can write to the file any more.
  void close(bool ends) noexcept;
  // Nothing is pending: the file has no log any more that outlives the program.
  void unmark() noexcept;

  // A child of fork() to which what is in the log is lost; it is told so at the next flush or
  // close.
  void lose();
  // Whether a log could not be replayed or drained, and why.
  [[nodiscard]] bool broken() const;
  [[nodiscard]] Error broken_error() const;

  SerialFile(vol::UnderConnector& connector, const OpenFile& place, Canonicalise when);
  SerialFile(const SerialFile&) = delete;
  SerialFile& operator=(const SerialFile&) = delete;
  SerialFile(SerialFile&&) = delete;
  SerialFile& operator=(SerialFile&&) = delete;
  ~SerialFile() override;

 private:
  std::shared_ptr<Dataset> know(const std::shared_ptr<Dataset>& dataset);
  void require_not_stored(const vol::Object& object) const;
  void begin_log();
  void leave_log_to_parent();
  bool lost();
  void fail() noexcept;
  void keep_closed();
  void cover();
  void sync() const;
  void sync_rest() noexcept;
  void flush_closed_datasets();
  void replay_datasets();
  const engine::log::Reader& read_on();
  void forget();
  void forget_logged();
  [[nodiscard]] bool syncs() const { return later_ && place_.sync && state_ != State::lost; }
  [[nodiscard]] Error lost_error() const;
  [[nodiscard]] unsigned long number_of_file(const vol::Object& object, H5I_type_t type) const;

  std::unique_ptr<EarlierLogs> stored_;  // of an earlier program, which reads must look into
  bool pending_ = false;                 // whether there is anything in the log
  std::uint64_t replayed_ = 0;           // writes that HDF5 has got, the first ones
  std::uint64_t replayed_epochs_ = 0;    // the epochs of those
  std::uint64_t looked_through_ = 0;     // writes, by reads since then
  engine::log::Room room_;
  std::optional<sidecar::ClosedFile> closed_;  // is to be put in order by a process of its own now
};

}  // namespace headrace::log_layout

// A file that writes are logged of, and its log.
#pragma once

#include <unistd.h>

#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "connectors/log/file/all_files.hpp"
#include "connectors/log/file/dataset.hpp"
#include "connectors/log/opening/opening.hpp"
#include "connectors/log/replaying/earlier_logs.hpp"
#include "connectors/log/settings.hpp"
#include "engine/log/reader.hpp"
#include "engine/log/room.hpp"
#include "engine/log/writer.hpp"
#include "sidecar/replay_process.hpp"

namespace headrace::log_layout {

// Kept with the connector below. The application's thread only.
class File {
 public:
  // Null for files over MPI or for SWMR, which are left to HDF5.
  static File* of(const vol::UnderConnector& connector);

  // To be called when the program has opened a file, with its arguments. What an earlier program
  // has left in logs is put in order now if that is possible. Throws Error when it is neither
  // possible nor are reads of it. Where ranks open the file for writing (`by_ranks`), they do that
  // together: returns what names the logs.
  struct Opening {
    const char* name;
    unsigned flags;
    bool created;
    hid_t fapl;
    [[nodiscard]] bool writes() const { return created || (flags & vol::kReadWrite) != 0; }
  };
  static std::optional<engine::log::Owner> opened(const vol::Object& file, const Opening& opening,
                                                  bool by_ranks, const LogOptions& options);

  [[nodiscard]] const std::string& path() const { return place_.path; }
  // Whether writes may be logged.
  [[nodiscard]] bool logs() const;
  // From now on the file is left to HDF5. Nothing may be pending.
  void stop() { logs_ = false; }
  // The log of an earlier program that reads must look into; else null.
  [[nodiscard]] const EarlierLogs* stored() const { return stored_.get(); }
  // Whether ranks that read it wait for each other in HDF5's answers.
  [[nodiscard]] bool asks_together() const { return asks_together_; }

  // The dataset as it is known already, or the new one from now on.
  std::shared_ptr<Dataset> know(const std::shared_ptr<Dataset>& dataset);

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

  // Whether this is the file with that number; objects behind external links are in others.
  [[nodiscard]] bool is(unsigned long number) const { return number == number_; }
  // The same of an id of a file; no for one that H5Iget_file_id has made.
  [[nodiscard]] bool is(const vol::Object& file) const;
  [[nodiscard]] unsigned long number() const { return number_; }
  // Whether the program means this file by that name.
  [[nodiscard]] bool is_called(const char* name) const;
  // Whether something of a dataset in that file, or of what is touched, is in the log.
  [[nodiscard]] bool holds(unsigned long number) const;
  [[nodiscard]] bool is_touched(const Touched& touched) const;
  // Whether the log knows datasets by their names.
  [[nodiscard]] bool keeps_names() const { return later_; }
  // Whether the program has closed a dataset that something is logged of.
  [[nodiscard]] bool has_closed() const;
  // Whether there is a log now that outlives the program. Without its marker nobody would find it,
  // and programs may remove any attribute.
  [[nodiscard]] bool keeps_log() const noexcept;
  // Writes to the datasets what is in the log and HDF5 has not got yet, so that its reads find all.
  // The log keeps it, as HDF5 may have it in memory, and loses chunks that it cannot write. A log
  // that outlives the program settles.
  void give() noexcept;
  // Whether HDF5 has got all of it.
  [[nodiscard]] bool all_given() const { return log_ == nullptr || given_ == log_->writes(); }
  // To be called when HDF5 has failed: it may have lost what it has been given.
  void give_again();
  // Whether the log has anything of the dataset that HDF5 has not got, and reads may look into it.
  [[nodiscard]] bool holds_anew(const Dataset& dataset) const {
    return dataset.pending && !owner_ && !all_given();
  }
  // What of that reads of those rows need; null where it takes longer to look through the log than
  // to give HDF5 what it holds.
  const engine::log::Layers* logged(Dataset& dataset, std::span<const engine::Run> rows) noexcept;
  // Gives, and has HDF5 flush the file; then nothing is in the log. What goes wrong fails all calls
  // that read, write, flush or close the file, until a flush or close has done it.
  void settle() noexcept;
  // The library ends: what could not be settled is lost, unless the log outlives the program.
  void give_up() noexcept;
  // HDF5's flush of the file passes over datasets that the program has closed and the log has not.
  // What goes wrong is deferred.
  void flush_closed() noexcept;
  // A log that outlives the program has all that was logged, and when the program `closes` the file
  // says so. To be called when HDF5 has flushed the file. Throws Error.
  void keep(bool closes);
  // With sync=true also what is in no log survives a power cut. To be called when HDF5 has flushed
  // the file. Throws Error.
  void sync() const;
  // The path of a file that HDF5 must not leave to the system's memory when it closes it.
  [[nodiscard]] std::optional<std::string> to_sync() const;
  // The log that has been kept, when a process of its own is to put it in order now; once.
  [[nodiscard]] std::optional<sidecar::ClosedFile> take_closed() {
    return std::exchange(closed_, {});
  }
  // The program closes the file, or the process `ends`. Such a log is kept, if nobody can write to
  // the file any more.
  void close(bool ends) noexcept;

  // Nothing is pending: the file has no log any more that outlives the program.
  void unmark() noexcept;

  // A child of fork() to which what is in the log is lost; it is told so at the next flush or
  // close.
  void lose();
  // Throws Error when this is such a child, or when a log could not be settled.
  void require_whole() const;
  // Whether a log could not be settled, and why.
  [[nodiscard]] bool broken() const;
  [[nodiscard]] Error broken_error() const;

  File(vol::UnderConnector& connector, OpenFile place, bool later);
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

 private:
  void begin_log();
  void leave_log_to_parent();
  bool lost();
  void fail() noexcept;
  void keep_closed();
  void cover();
  void sync_rest() noexcept;
  void flush_closed_datasets();
  void replay();
  const engine::log::Reader& read_log();
  void forget();
  void forget_logged();
  [[nodiscard]] Error lost_error() const;

  vol::UnderConnector* connector_;  // which keeps this
  OpenFile place_;
  pid_t process_ = ::getpid();
  bool later_;
  std::string background_;  // with canonicalise=background: the path of libhdf5
  bool logs_ = true;
  bool pending_ = false;
  bool lost_ = false;
  unsigned long number_ = 0;  // HDF5's
  int descriptor_ = -1;
  std::optional<engine::log::Owner> owner_;  // the file has a log that outlives the program
  std::unique_ptr<engine::log::Writer> log_;
  std::unique_ptr<engine::log::Reader> reader_;
  std::uint64_t given_ = 0;           // writes that HDF5 has got, the first ones
  std::uint64_t given_epochs_ = 0;    // the epochs of those
  std::uint64_t looked_through_ = 0;  // writes, by reads since then
  engine::log::Room room_;
  std::optional<sidecar::ClosedFile> closed_;
  bool asks_together_ = false;
  std::unique_ptr<EarlierLogs> stored_;
  std::map<vol::Identity, std::shared_ptr<Dataset>> datasets_;
};

}  // namespace headrace::log_layout

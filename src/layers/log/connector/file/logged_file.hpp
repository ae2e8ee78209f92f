// A file that writes are logged of, and its log: what a file that a process has alone
// (serial/serial_file.hpp) has in common with one that ranks have open together
// (ranks/parallel_file.hpp).
//
// Two words for what becomes of a log: it is *replayed* when its writes are written to the
// datasets, which HDF5 may keep in memory still; it is *drained* when that is in the file and the
// log empty.
#pragma once

#include <unistd.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "engine/log/reader.hpp"
#include "engine/log/writer.hpp"
#include "layers/log/connector/file/dataset.hpp"
#include "layers/log/connector/file/open_file.hpp"
#include "layers/log/settings.hpp"
#include "sidecar/log_store.hpp"
#include "vol/effects.hpp"

namespace headrace::log_layout {

struct Write;

// Kept with the connector below. The application's thread only.
class LoggedFile {
 public:
  // Null for a file that is left to HDF5 whatever comes.
  static LoggedFile* of(const vol::UnderConnector& connector);

  LoggedFile(const LoggedFile&) = delete;
  LoggedFile& operator=(const LoggedFile&) = delete;
  LoggedFile(LoggedFile&&) = delete;
  LoggedFile& operator=(LoggedFile&&) = delete;
  virtual ~LoggedFile() = default;

  [[nodiscard]] const std::string& path() const { return place_.path; }
  // Whether this is the file with that number; objects behind external links are in others.
  [[nodiscard]] bool is(unsigned long number) const { return number == number_; }
  // The same of an id of a file; no for one that H5Iget_file_id has made.
  [[nodiscard]] bool is(const vol::Object& file) const;
  [[nodiscard]] unsigned long number() const { return number_; }

  // Whether ranks have it open together, which make some calls together only.
  [[nodiscard]] virtual bool of_ranks() const = 0;
  // Whether ranks wait for each other where HDF5 reads metadata.
  [[nodiscard]] bool asks_together() const { return asks_together_; }
  // Whether all writes are logged, as logs are on faster storage than the file and outlive the
  // program.
  [[nodiscard]] bool stages_all() const { return later_ && !place_.logs_in.empty(); }
  // Whether logs know datasets by their names.
  [[nodiscard]] bool keeps_names() const { return later_; }

  // Whether writes may be logged; the same on all ranks.
  [[nodiscard]] virtual bool logs() const { return state_ == State::logs; }
  // Throws Error when what was logged is missing in this process, or could not be replayed or
  // drained.
  virtual void require_whole() const = 0;
  // The same of what all ranks know: before calls that they make together.
  virtual void require_agreed() const { require_whole(); }

  // What there is to know of the dataset of a handle; null when it is left to HDF5. Throws Error.
  virtual std::shared_ptr<Dataset> find(vol::Object& handle) = 0;
  // When the program has opened the dataset, or `made` it: what all ranks must ask together.
  virtual void ask_early(vol::Object& handle, bool made) = 0;
  // Whether there is a log of an earlier program that reads must look into.
  [[nodiscard]] virtual bool has_stored() const { return false; }
  // Whether all reads look through logs; then what they hold of a dataset, null when it is nothing.
  // Throws Error.
  [[nodiscard]] virtual bool reads_logs() const { return has_stored(); }
  virtual const engine::log::LoggedWrites* writes_of(Dataset& dataset) {
    return dataset.writes.get();
  }
  // What must have happened before HDF5 can read what is not read through logs.
  [[nodiscard]] virtual const char* until() const = 0;

  // Logs a write of which all is known but the place in the log. False, and nothing is written,
  // when it is HDF5's. Throws Error.
  virtual bool log_rows(Write& write) = 0;

  // Before a call that ranks make together: all that they have logged is in the datasets.
  virtual void publish_together() {}
  // Before a call with these effects, after which others read and write past the log, or find
  // datasets by other names.
  virtual void stop_before(const vol::Effects& effects) = 0;
  // The program has made a dataset without a name: once it is linked, other handles of it, which
  // nothing tells apart from those of logged ones, would be logged.
  virtual void leave_unnamed() {}
  // Before a dataset gets an extent by which its elements change their numbers, and after that.
  virtual void before_reshape(const Dataset& /*dataset*/) {}
  virtual void after_reshape(bool /*done*/) {}
  // Around a flush by an object of this type. What goes wrong before it is the error of its end.
  virtual void before_flush(const vol::Object& object, H5I_type_t type) = 0;
  virtual void after_flush(const vol::Object& object, H5I_type_t type) = 0;
  // Before HDF5 closes an id that the program has opened the file by. Throws Error where that would
  // lose what is logged; the file stays open then.
  virtual void before_close(const vol::Object& file) = 0;
  // What is to be done when HDF5 has closed it, or could not; null when it is nothing.
  using AfterClose = std::function<void(bool closed)>;
  virtual AfterClose after_close(const vol::Object& file) = 0;

 protected:
  enum class State {
    logs,  // writes
    left,  // from now on all is left to HDF5
    lost,  // and writes are missing that a parent of this process has logged
    kept,  // the file is closed, its logs are not in it
  };

  LoggedFile(vol::UnderConnector& connector, OpenFile place, Canonicalise when);

  // Of a child of fork(): the log is its parent's.
  [[nodiscard]] bool is_parents() const { return process_ != ::getpid(); }
  // The log, in the file that is open; a new one on the first call.
  engine::log::Writer& writer();
  // Whether the node's storage has so many bytes more for the log that is open there: they are the
  // log's from then on.
  bool reserve(std::uint64_t bytes);
  // The log holds nothing any more.
  void note_emptied() { reserved_ = 0; }
  // All that has been written to it since; its writer has passed that on. Throws Error when a part
  // is gone.
  const engine::log::Reader& read_log();
  [[nodiscard]] bool has_read_all() const;
  // The log is closed for this process, and nothing is known of its content.
  void close_log();

  vol::UnderConnector* connector_;  // which keeps this
  OpenFile place_;
  pid_t process_ = ::getpid();
  unsigned long number_ = 0;  // HDF5's
  State state_ = State::logs;
  bool later_;                  // logs outlive the program
  std::string background_;      // libhdf5, where a process is to drain them then; else empty
  bool asks_together_ = false;  // HDF5 has ranks wait for each other to read metadata

  engine::log::Owner owner_{};  // of logs that have a name
  bool marked_ = false;         // the file says that they belong to it
  std::unique_ptr<sidecar::LogStore> store_;
  int descriptor_ = -1;
  std::uint64_t reserved_ = 0;  // of the log's file
  std::unique_ptr<engine::log::Writer> log_;
  std::unique_ptr<engine::log::Reader> reader_;  // of that
  std::map<vol::Identity, std::shared_ptr<Dataset>> datasets_;
};

}  // namespace headrace::log_layout

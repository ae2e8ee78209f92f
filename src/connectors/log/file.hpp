// A file that writes are logged of, and its log.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "connectors/log/dataset.hpp"
#include "engine/log/writer.hpp"

namespace headrace::log_layout {

// Kept with the connector below. The application's thread only.
class File {
 public:
  // Null for files that are left to HDF5.
  static File* of(const vol::UnderConnector& connector);

  // To be called when the program has opened a file, with its arguments.
  static void opened(const vol::Object& file, const char* name, unsigned flags, bool created,
                     hid_t fapl);

  [[nodiscard]] const std::string& path() const { return path_; }
  // Whether writes may be logged.
  [[nodiscard]] bool logs() const;
  // From now on the file is left to HDF5. Nothing may be pending.
  void stop() { logs_ = false; }

  // The dataset as it is known already, or the new one from now on.
  std::shared_ptr<Dataset> know(std::shared_ptr<Dataset> dataset);

  // Where the data and the index of a write go. Throws Error when there is no room for a log.
  engine::log::Writer& log();
  // The dataset of a write that is being added to the log, through one of its handles.
  void note_pending(Dataset& dataset, vol::Object& handle);

  // Whether anything is in the log.
  [[nodiscard]] bool pending() const { return pending_; }
  [[nodiscard]] unsigned long number() const { return number_; }
  // Writes all that is in the log to the datasets. What goes wrong is deferred to the next flush or
  // close of the file.
  void settle() noexcept;

  // A child of fork() to which what is in the log is lost; it is told so at the next flush or
  // close.
  void lose();
  // Throws Error when this is such a child.
  void require_nothing_lost() const;

  File(vol::UnderConnector& connector, std::string path)
      : connector_(&connector), path_(std::move(path)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

 private:
  void replay();
  void forget();
  [[nodiscard]] Error lost_error() const;

  vol::UnderConnector* connector_;  // which keeps this
  std::string path_;
  bool logs_ = true;
  bool pending_ = false;
  bool lost_ = false;
  unsigned long number_ = 0;  // HDF5's
  int descriptor_ = -1;
  std::unique_ptr<engine::log::Writer> log_;
  std::map<vol::Identity, std::shared_ptr<Dataset>> datasets_;
};

// Settles all files of the process.
void settle() noexcept;
// Whether there is anything to settle.
bool anything_pending();
// In a child of fork() that cannot settle.
void lose_pending();
// From now on all files are left to HDF5: the token of a deleted dataset may become a new one's.
void log_nothing_more();
// Before writes to a file are logged: those of other handles of the same file are settled.
void settle_others(const File& file) noexcept;

}  // namespace headrace::log_layout

// Blobs that are too large for a database, each a file. Names tell who has made a file: each object
// of this class has a folder of its own, a session, and holds a lock on it. So what a killed
// process has written and not put into the database is told from what another is about to put.
//
//   FOLDER/SESSION/NUMBER    a blob
//   FOLDER/SESSION/lock      locked by flock() while its process may name more files there
//
// Any thread; the process that made the object only. All functions throw Error.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/descriptor.hpp"
#include "store/store.hpp"

namespace headrace::store {

struct DataFile {
  std::uint64_t session = 0;
  std::uint64_t number = 0;
  auto operator<=>(const DataFile&) const = default;
};

class DataFiles {
 public:
  // `synced`: files that have been made survive a power cut, once their names do.
  DataFiles(std::string folder, bool synced);
  DataFiles(const DataFiles&) = delete;
  DataFiles& operator=(const DataFiles&) = delete;
  ~DataFiles();

  // Makes a file of these bytes, one after the other, or none. With `synced` they survive a power
  // cut after sync().
  DataFile write(Bytes front, Bytes rest, std::unique_ptr<Descriptor>& written);
  // What write() has left open. On all at once: the file system has them written together.
  void sync(const Descriptor& written) const;
  // Of all that were made until now: their names survive a power cut, too, if `synced`.
  void sync_names();
  // Reads bytes from `offset` on. False where the file is gone.
  bool read(DataFile file, std::uint64_t offset, std::span<std::byte> bytes) const;
  void erase(DataFile file) const noexcept;
  [[nodiscard]] std::string path_of(DataFile file) const;

  // Erases, or counts, the files of ended sessions that are none of those `is_named` knows. `begin`
  // is called before it is asked, when it is clear which sessions have ended. What a session has
  // left that goes on stays until it has ended: nobody else knows what is about to be named.
  LeftOver collect(Collect how, const std::function<void()>& begin,
                   const std::function<bool(DataFile)>& is_named) const;

 private:
  void begin_session();

  std::string folder_;
  bool synced_;
  std::mutex mutex_;
  std::uint64_t session_ = 0;
  int lock_ = -1;  // -1: it has not begun
  std::uint64_t made_ = 0;
};

// Returns when the entries of a folder survive a power cut.
void sync_folder(const std::string& folder);

}  // namespace headrace::store

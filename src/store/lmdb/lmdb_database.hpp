// A file of LMDB's: keys with values and their versions.
//
// LMDB's own locks are not used: they forbid to open a file twice in a process, take shared memory
// that a full disk makes deadly, and know processes by numbers that containers share. FileLocks
// lets writers in alone, which is what LMDB asks of who does without its locks.
//
// The value of a key is its version (8 bytes), a CRC-32 of key and value (4), and what was given;
// integers have the lowest byte first. A version is the number of the transaction that made it.
//
// Any thread; the process that made the object only. All functions throw Error.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "store/lmdb/file_locks.hpp"
#include "store/store.hpp"

namespace headrace::store {

struct DatabaseChange {
  std::string key;  // 1 to 511 bytes
  Bytes head;       // of the value, and what follows it; lent
  Bytes body;
  bool erases = false;
  std::optional<Version> expected = std::nullopt;
  bool refused = false;  // set: the entry is not of that version
};

// Called in a write: with what is replaced or erased, and before it becomes known to others, after
// which it may have happened even if the write throws.
struct Writing {
  std::function<void(Bytes)> replaced = [](Bytes) {};
  std::function<void()> committing = [] {};
};

class LmdbDatabase {
 public:
  // Of a file that is there when it is used first. `name`: the store's, for errors.
  LmdbDatabase(std::string path, std::string lock_path, std::string name);
  // Makes the file where it is not there, and calls `finish` before another does so.
  void make(const std::function<void()>& finish);
  ~LmdbDatabase();
  LmdbDatabase(const LmdbDatabase&) = delete;
  LmdbDatabase& operator=(const LmdbDatabase&) = delete;

  // Values are lent.
  using Visit = std::function<bool(std::string_view key, Bytes value, Version version)>;
  void read(std::string_view key, const Visit& visit);
  // From a key on, as they are at one moment, until it says false.
  void scan(std::string_view from, const Visit& visit);

  // All of it at once, but what is refused; or nothing, where `together` and one is. `synced`: it
  // survives a power cut. The version of what was put.
  Version write(std::span<DatabaseChange> changes, bool together, bool synced,
                const Writing& writing);

 private:
  class Environment;
  class Transaction;

  std::shared_ptr<Environment> environment();
  void retire(const std::shared_ptr<Environment>& environment);
  template <typename Lock, typename Work>
  void run(unsigned flags, const char* what, std::string_view key, const Work& work);
  [[noreturn]] void fail(int code, const char* what, std::string_view key) const;

  std::string path_;
  std::string name_;
  FileLocks locks_;
  std::mutex mutex_;
  std::shared_ptr<Environment> environment_;
};

}  // namespace headrace::store

// Which files the programs of a user are writing on this node, for those that keep what they have
// read of them. A number for each file changes when somebody begins or ends to write it.
//
// The numbers are in a table of the node, by device and inode: two files may share one, and then
// change with each other. A writer that is killed is gone, and what it has written is told by the
// number of its beginning. Any thread. See docs/decisions/0024.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "engine/cache/shared/folder.hpp"
#include "engine/io/file_identity.hpp"

namespace headrace::engine::cache {

class Writers {
 public:
  // Of the process, or of the copy of the library in it; never ends. Throws Error where there is no
  // table.
  static Writers& get();

  // A table of its own, in the shared folder. Throws Error.
  explicit Writers(const std::string& name);

  // Returns what end() is to be given.
  using Process = std::uint64_t;
  [[nodiscard]] Process begin(const io::FileIdentity& file);
  // Does nothing where it has begun before a fork.
  void end(const io::FileIdentity& file, Process begun) noexcept;

  // The file's number now.
  [[nodiscard]] std::uint64_t number(const io::FileIdentity& file) const;
  // None while somebody writes the file. What was read of it afterwards holds as long as number()
  // tells the same.
  [[nodiscard]] std::optional<std::uint64_t> settled(const io::FileIdentity& file) const;

  // False once the table has been removed, as others make another one then. Looks once a second.
  [[nodiscard]] bool is_current();

  // After a fork: the child writes none of the files that its parent does.
  void begin_child();

 private:
  static constexpr std::size_t kPlaces = 4096;
  struct Table {
    std::uint64_t magic;
    std::uint64_t first;  // what numbers begin with: another one in each table
    std::array<std::atomic<std::uint64_t>, kPlaces> changes;
  };
  static void fill(int descriptor);
  static std::size_t place_of(const io::FileIdentity& file);

  OwnedDescriptor file_;
  Table* table_;
  mutable std::mutex mutex_;
  std::array<std::uint32_t, kPlaces> own_{};  // writers in this process
  Process process_ = 0;                       // forks on the way to it
  std::atomic<std::int64_t> looked_{0};       // when, in seconds
};

// Somebody who writes a file, as long as it lives. Where there is no table, nobody knows.
class Writing {
 public:
  explicit Writing(const io::FileIdentity& file);
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
  ~Writing();

 private:
  io::FileIdentity file_;
  Writers* in_ = nullptr;
  Writers::Process begun_ = 0;
};

}  // namespace headrace::engine::cache

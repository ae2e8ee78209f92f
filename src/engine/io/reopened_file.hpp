// A file that is closed where the process comes near to its limit of open files, and opened again
// when it is used. No HDF5.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>

#include "engine/io/file.hpp"
#include "engine/io/file_identity.hpp"

namespace headrace::engine::io {

class ReopenedFile final : public File {
 public:
  // Throws Error. `writable`: as it is opened.
  ReopenedFile(std::string path, bool writable);
  // For reading only, and opened when it is read first.
  explicit ReopenedFile(std::string path);
  ReopenedFile(const ReopenedFile&) = delete;
  ReopenedFile& operator=(const ReopenedFile&) = delete;
  ~ReopenedFile() override;

  void write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) override;
  void read(std::uint64_t offset, std::span<std::byte> bytes) override;
  void read_pieces(std::uint64_t offset, std::span<const std::span<std::byte>> pieces) override;
  void sync() override;
  void resize(std::uint64_t size) override;

  // Throws Error, also for what has failed when it was closed before. Nobody uses it meanwhile.
  void close();

 private:
  using All = std::list<ReopenedFile*>;
  struct Open;
  static Open& open_ones();
  template <typename Action>
  void use(const Action& action);
  void open();
  void require(const FileIdentity& same);
  bool note_place();
  void close_descriptor() noexcept;
  static void leave_room(bool near_limit);
  // Of those that nobody uses, the ones first that have not been used since it was last asked.
  static void close_others(std::size_t count);

  std::string path_;
  const bool writable_;
  std::shared_mutex mutex_;  // shared while it is used
  int descriptor_ = -1;
  std::unique_ptr<File> storage_;  // by that
  All::iterator listed_;           // while it is open
  std::atomic<bool> used_{false};
  std::optional<FileIdentity> closed_;  // once it was closed for others
  int failed_ = 0;                      // errno of a close
};

}  // namespace headrace::engine::io

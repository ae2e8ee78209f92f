// A store in a folder of a local file system: LMDB for tables and small blobs, a file for each blob
// of more than kLargestInside bytes. Nothing to set up; processes of one machine share it.
//
//   FOLDER/format      "Headrace store 1"
//   FOLDER/lock        see file_locks.hpp. keep() locks the byte at 2^32 and the name's CRC-32; two
//                      names of one CRC-32 keep each other out, which harms nobody
//   FOLDER/database    LMDB's. Keys: 't', the length of the table's name in 2 bytes, the name, the
//                      key; or 'b' and a blob's key. A blob's value: 0 and its bytes, or 1 and, in
//                      8 bytes each, its size, its file's session and number
//   FOLDER/files/      see data_files.hpp
//
// Integers have the lowest byte first. Only the user who made it may enter the folder.
#pragma once

#include <atomic>
#include <string>

#include "store/store.hpp"

namespace headrace::store {

// What survives when a change has been made: the end of the process, or that of the machine. Power
// is kept where all that change a store keep it.
enum class Durability { process, power };

class LmdbStore final : public Store {
 public:
  static constexpr std::size_t kLargestInside = std::size_t{64} << 10U;  // bytes

  // Makes what is not there. Throws Error: `unsupported` on a file system of a network, `conflict`
  // where the folder holds something else, or others may enter it.
  LmdbStore(const std::string& folder, Durability durability);
  LmdbStore(const LmdbStore&) = delete;
  LmdbStore& operator=(const LmdbStore&) = delete;
  ~LmdbStore() override { end(); }

  Commit commit(std::string_view table, std::span<const Change> changes) override;
  // In one transaction.
  std::vector<Commit> commit_in_order(std::span<const TableChanges> tables) override;
  std::optional<Entry> find(std::string_view table, std::string_view key) override;
  std::vector<Entry> scan(std::string_view table, std::string_view from, std::size_t most) override;
  std::vector<std::string> tables(std::string_view prefix, std::string_view behind,
                                  std::size_t most) override;
  std::vector<Version> put(std::span<const Change> blobs) override;
  std::optional<BlobInfo> get(std::string_view key, std::uint64_t offset,
                              std::span<std::byte> room) override;
  std::vector<ListedBlob> list(std::string_view from, std::size_t most) override;
  std::shared_ptr<const void> keep(std::string_view name, Keeping how) override;
  LeftOver collect(Collect how) override;

 private:
  struct Process;
  void open();
  void end() noexcept;
  Process& process() const;

  std::string folder_;
  bool synced_;
  mutable std::atomic<Process*> process_{nullptr};
};

}  // namespace headrace::store

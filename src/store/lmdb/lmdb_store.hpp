// A store in a folder of a local file system: LMDB for tables and small blobs, a file for each blob
// of more than kLargestInside bytes. Nothing to set up; processes of one machine share it.
//
//   FOLDER/format       "Headrace store 1"
//   FOLDER/database/    LMDB's files. Keys: 't', the length of the table's name in 2 bytes, the
//                       name, the key; or 'b' and a blob's key. A blob's value: 0 and its bytes, or
//                       1 and, in 8 bytes each, its size, its file's session and number
//   FOLDER/files/       see data_files.hpp
//
// Integers have the lowest byte first. Only the user who made it may enter the folder.
#pragma once

#include "store/lmdb/data_files.hpp"
#include "store/lmdb/lmdb_database.hpp"
#include "store/store.hpp"

namespace headrace::store {

// What survives when a change has been made: the end of the process, or that of the machine. Power
// is kept where all that change a store keep it.
enum class Durability { process, power };

class LmdbStore final : public Store {
 public:
  static constexpr std::size_t kLargestInside = std::size_t{64} << 10U;  // bytes

  // Makes what is not there. Throws Error: `unsupported` on a file system of a network, `conflict`
  // where the folder holds something else, or is another user's.
  LmdbStore(const std::string& folder, Durability durability);

  std::optional<std::size_t> commit(std::string_view table,
                                    std::span<const Change> changes) override;
  std::optional<Entry> find(std::string_view table, std::string_view key) override;
  std::vector<Entry> scan(std::string_view table, std::string_view from, std::size_t most) override;
  std::vector<Version> put(std::span<const Change> blobs) override;
  std::optional<BlobInfo> get(std::string_view key, std::uint64_t offset,
                              std::span<std::byte> room) override;
  std::vector<ListedBlob> list(std::string_view from, std::size_t most) override;
  void collect() override;

 private:
  bool synced_;
  LmdbDatabase database_;
  DataFiles files_;
};

}  // namespace headrace::store

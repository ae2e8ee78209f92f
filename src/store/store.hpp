// A key-value store: blobs, each whole or not at all, and tables, whose entries change together.
// tests/store has what each store must do; docs/decisions/0026 says why it is this little.
//
// Keys are any bytes, in the order of memcmp(), from 1 to kLongestKey of them; names of tables are
// from 1 to kLongestTable. An entry or blob gets another version with each change, never one that
// it has had before.
//
// Any thread; in a child after fork() it goes on. What cannot be done is thrown as Error, with the
// store and the cause in its text, of reads the key, and an errno or a kind: `no_space`, `corrupt`,
// `conflict` (something else is there), `unsupported`, `failed`. Nothing has changed then, unless
// the store says that it is not known (`failed`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::store {

inline constexpr std::size_t kLongestKey = 400;
inline constexpr std::size_t kLongestTable = 100;

using Bytes = std::span<const std::byte>;
inline Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
inline std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

using Version = std::uint64_t;
inline constexpr Version kAbsent = 0;  // of what is not there

// What is to become of an entry or a blob.
struct Change {
  std::string key;
  std::optional<Bytes> value;  // none: it is erased. Lent for the call
  // The change is refused where the entry or blob has another version (kAbsent: where there is
  // one).
  std::optional<Version> expected = std::nullopt;
  // Bytes that are stored in front of those of `value`, as one value; lent, too.
  Bytes front{};  // NOLINT(readability-redundant-member-init): who leaves it out is warned else
};

struct Entry {
  std::string key;
  std::vector<std::byte> value;
  Version version = kAbsent;
};

struct BlobInfo {
  Version version = kAbsent;
  std::uint64_t size = 0;  // bytes
};

struct ListedBlob {
  std::string key;
  BlobInfo info;
};

// What has become of changes that are made together.
struct Commit {
  Version version = kAbsent;  // of all entries that were put
  // Where nothing was changed: the place of a change whose entry is not of the version expected.
  std::optional<std::size_t> refused = std::nullopt;
};

// The changes of one of several tables.
struct TableChanges {
  std::string_view table;
  std::span<const Change> changes;
};

// Files of the store that killed processes have left, and that no entry names.
struct LeftOver {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};
enum class Collect { erase, tell };
enum class Keeping { shared, alone };

class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  // All changes of a table, each of another key, or none of them.
  [[nodiscard]] virtual Commit commit(std::string_view table, std::span<const Change> changes) = 0;
  // As commit() of one table after the other, until one is refused, or the rest is left to another
  // call: of each that was done, one at least. Others may see all of them at once. What is thrown
  // is of the first one.
  [[nodiscard]] virtual std::vector<Commit> commit_in_order(std::span<const TableChanges> tables);
  virtual std::optional<Entry> find(std::string_view table, std::string_view key) = 0;
  // At most so many entries of a table from a key on, as they were at one moment; from the first
  // one where `from` is empty.
  virtual std::vector<Entry> scan(std::string_view table, std::string_view from,
                                  std::size_t most) = 0;

  // Tables that have entries and whose names begin so, at most so many, behind a name, or all where
  // that is empty: shorter names first, those of one length in the order of memcmp().
  virtual std::vector<std::string> tables(std::string_view prefix, std::string_view behind,
                                          std::size_t most) = 0;

  // Changes blobs of different keys. Each change is made or refused by itself, and others may see
  // some of them before the rest. Returns the new version of each blob; kAbsent for a change that
  // erases, and for one that was refused.
  virtual std::vector<Version> put(std::span<const Change> blobs) = 0;
  // Copies what the blob has from `offset` on, as far as there is room. Returns the version and the
  // size of all of it; nothing where there is no such blob.
  virtual std::optional<BlobInfo> get(std::string_view key, std::uint64_t offset,
                                      std::span<std::byte> room) = 0;
  // At most so many blobs from a key on, in the order of keys, as they were at one moment.
  virtual std::vector<ListedBlob> list(std::string_view from, std::size_t most) = 0;

  // Keeps a name for as long as what is returned lives, or its process: as one of many, or alone.
  // Null where others keep the name so that both cannot. Names of keepers and keys of blobs or
  // tables have nothing to do with each other.
  [[nodiscard]] virtual std::shared_ptr<const void> keep(std::string_view name, Keeping how) = 0;

  // Erases what is left over, or only tells how much that is. Beside any use of the store.
  virtual LeftOver collect(Collect how) = 0;
};

// Throws Error (unsupported) for a key, or the name of a table, that no store takes.
void require_key(std::string_view key);
void require_table(std::string_view table);

}  // namespace headrace::store

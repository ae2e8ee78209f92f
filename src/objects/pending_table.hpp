// A table of a store with changes that are gathered in memory, and written all at once.
//
// One thread. Reads see the changes, and what others have written of all else. A flush that meets
// changes of others merges, entry by entry, and tries again.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "store/store.hpp"

namespace headrace::objects {

// A value; none where there is no entry.
using Value = std::optional<std::string>;

// An entry that was `base` when it was changed to `mine`, and is `theirs` now.
struct Meeting {
  const std::string& key;
  const Value& base;
  const Value& mine;
  const Value& theirs;
  store::Version version;  // of theirs
};
// What the entry is to be. Where not both changes can be, theirs stands, and what is lost of mine
// is added to `lost`. May change other entries of the table.
using Lost = std::vector<Error>;
using Merge = std::function<Value(const Meeting& meeting, Lost& lost)>;

// A change that follows from the others. It is written with them, and made anew for each try.
struct Derived {
  std::string key;
  Value value;
  store::Version version = store::kAbsent;  // of what is stored
};
// May change entries of the table, too.
using Derive = std::function<std::vector<Derived>()>;

class PendingTable {
 public:
  // `store` outlives the object. `is_new`: nothing is stored of it, and nobody else knows of it
  // until the first flush or become_known(), so that the store is not asked.
  // `total`: the size of its changes counts there, too; it outlives the object.
  PendingTable(store::Store& store, std::string table, bool is_new = false,
               std::size_t* total = nullptr);
  PendingTable(const PendingTable&) = delete;
  PendingTable& operator=(const PendingTable&) = delete;
  ~PendingTable() { count(0, size_); }

  void become_known() { is_new_ = false; }

  Value find(const std::string& key);
  // An entry is put or erased in memory only. The first change of one looks at what is stored, but
  // that of one that is known not to be there.
  void set(const std::string& key, Value value);
  void insert_new(const std::string& key, std::string value);
  // Has it looked at now, once, so that neither find() nor set() of it fails.
  void prepare(const std::string& key);
  // One that was read before, by which way ever: it was `base`, of that version.
  void replace(const std::string& key, Value value, Value base, store::Version version);
  // An entry as it is stored, whatever this writer has changed.
  [[nodiscard]] std::optional<store::Entry> stored(const std::string& key) const;
  [[nodiscard]] store::Version version(const std::string& key) const;
  // Whether an entry that this writer has changed, or not, is what it was then.
  [[nodiscard]] bool is_current(const std::string& key) const;
  // Of the changes whose keys begin so, in the order of keys.
  using See = std::function<void(const std::string& key, const Value& base, const Value& mine)>;
  void each_change(const std::string& prefix, const See& see) const;
  // At most so many entries from a key on as they are stored.
  [[nodiscard]] std::vector<store::Entry> stored_from(const std::string& from,
                                                      std::size_t most) const;
  // At most so many entries from a key on, in the order of keys.
  std::vector<std::pair<std::string, std::string>> scan(const std::string& from, std::size_t most);

  // Writes all changes, or throws Error and keeps them. What cannot be merged is added to `lost`,
  // and the rest is written. The version of what was written; kAbsent where nothing had changed.
  store::Version flush(const Merge& merge, Lost& lost, const Derive& derive = {});
  // The same in two steps, for several tables together: the changes and what was derived from them,
  // which are lent until the next one or a flush, and drop() where they were made.
  [[nodiscard]] const std::string& name() const { return table_; }
  [[nodiscard]] std::vector<store::Change> changes(std::span<const Derived> derived);
  // Forgets all changes.
  void drop() {
    pending_.clear();
    count(0, size_);
  }

  // Of the changes, in bytes.
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Pending {
    Value value;
    Value base;
    store::Version version = store::kAbsent;  // of base
  };
  using Changes = std::map<std::string, Pending>;

  void count(std::size_t more, std::size_t less) {
    size_ += more - less;
    if (total_ != nullptr) *total_ += more - less;
  }
  Pending& changed(const std::string& key);
  void rebase(const std::string& key, const Merge& merge, Lost& lost);

  store::Store& store_;
  std::string table_;
  bool is_new_;
  Changes pending_;
  std::size_t size_ = 0;
  std::size_t* total_;
};

}  // namespace headrace::objects

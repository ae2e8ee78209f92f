// The links of a group, in its table.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "objects/format/link.hpp"
#include "objects/pending_table.hpp"

namespace headrace::objects {

using NamedLink = std::pair<std::string, Link>;

// What a group's table tells of all of its links.
struct Sums {
  std::uint64_t links = 0;
  std::uint64_t stamps = 0;  // larger than those of all links
};
// None is that of a group without links. Throws Error (corrupt).
Sums decode_sums(const Value& value);
// Those of an entry of that key, which begins with kName. Throws Error (corrupt).
std::vector<NamedLink> links_of_entry(const std::string& key, const std::string& value);

// One thread. Throws Error, and has changed nothing then; with `conflict` and EEXIST where a name
// is there already.
class Links {
 public:
  // Of a change that comes to nothing, as another has changed the link, too: what the link was, and
  // what it was to be.
  using Undo =
      std::function<void(const std::optional<Link>& base, const std::optional<Link>& mine)>;

  // `table`, of the group, outlives the object. `in_order`: they can be listed by their stamps.
  Links(PendingTable& table, bool in_order, Undo undo = {})
      : table_(table), in_order_(in_order), undo_(std::move(undo)) {}

  [[nodiscard]] std::optional<Link> find(const std::string& name) const;
  [[nodiscard]] std::uint64_t count() const;
  // The next link's stamp; they begin anew when the last link is erased.
  [[nodiscard]] std::uint64_t stamps() const;

  // Gives the link its stamp. `lease`: the writer's.
  void insert(const std::string& name, Link link, std::uint32_t lease);
  // Throws `not_found` where there is none.
  void erase(const std::string& name);

  // At most so many, by their names' bytes: from a name on, or behind it.
  [[nodiscard]] std::vector<NamedLink> by_name(const std::string& from, bool behind,
                                               std::size_t most) const;
  // From an index in that order on. What was counted is kept until the group changes: the first
  // call looks at all that is before it, and later ones at a thousand.
  [[nodiscard]] std::vector<NamedLink> by_index(std::size_t first, std::size_t most) const;
  // By their stamps: behind that link, or from the first one on.
  [[nodiscard]] std::vector<NamedLink> by_order(const Link* behind, std::size_t most) const;

  // A Merge of the entries that links make. A link that another has made or erased, too, is not
  // counted twice.
  Value merge(const Meeting& meeting, Lost& lost);

 private:
  void add_to_count(std::uint64_t links);
  struct MeetingLinks;
  std::optional<Link> merge_one(const MeetingLinks& meeting, Lost& lost);

  // Names of every so manieth link, of the group as it was.
  struct Counted {
    store::Version version = store::kAbsent;  // of the number of links, which any change changes
    std::uint64_t changes = 0;
    std::vector<std::string> names;
  };

  PendingTable& table_;
  bool in_order_;
  Undo undo_;
  std::uint64_t changes_ = 0;  // of this writer
  mutable Counted counted_;
};

}  // namespace headrace::objects

// The links of a group, in its table.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "objects/counting/positions.hpp"
#include "objects/format/link.hpp"
#include "objects/pending_table.hpp"

namespace headrace::objects {

using NamedLink = std::pair<std::string, Link>;

// What a group's table tells of all of its links.
struct Sums {
  std::uint64_t links = 0;
  std::uint64_t stamps = 0;  // larger than those of all links
  bool counted = false;      // also in blocks

  bool operator==(const Sums&) const = default;
};
std::string encode(const Sums& sums);
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
  // What an index is counted by: the order of the names' bytes, or that of the stamps.
  enum class Index : std::uint8_t { name, creation };
  // As count(), with what others have written meanwhile: one more than the last index.
  [[nodiscard]] std::uint64_t number(Index index) const { return positions(index).links(); }
  // From an index on.
  [[nodiscard]] std::vector<NamedLink> by_index(Index index, std::uint64_t first,
                                                std::size_t most) const;
  // Those in front of a link, which need not be there any more: as many of the last ones.
  [[nodiscard]] std::vector<NamedLink> in_front_of(Index index, const NamedLink& link,
                                                   std::size_t most) const;
  // By their stamps: behind that link, or from the first one on.
  [[nodiscard]] std::vector<NamedLink> by_order(const Link* behind, std::size_t most) const;

  // A Merge of the entries that links make. A link that another has made or erased, too, is not
  // counted twice.
  Value merge(const Meeting& meeting, Lost& lost);
  // A Derive of the counts that are stored.
  std::vector<Derived> count_changes() { return objects::count_changes(table_, in_order_); }

 private:
  void add_to_count(std::uint64_t links);
  struct MeetingLinks;
  std::optional<Link> merge_one(const MeetingLinks& meeting, Lost& lost);

  // What is known of an index as long as no other writer changes the group.
  struct Known {
    store::Version version = store::kAbsent;  // of the sums, which any change changes
    std::optional<Positions> positions = std::nullopt;
    // Some links in a row that were looked for last, and the index of the first.
    std::vector<NamedLink> some;
    std::uint64_t first = 0;
  };
  [[nodiscard]] Known& known_of(Index index) const {
    return known_.at(static_cast<std::size_t>(index));
  }
  [[nodiscard]] const Positions& positions(Index index) const;
  void note(Index index, const std::string& key, std::int64_t links);
  [[nodiscard]] std::vector<NamedLink> from(Index index, const std::string& key,
                                            std::uint64_t skipped, std::uint64_t most) const;
  [[nodiscard]] std::vector<NamedLink> links_of(Index index, const std::string& key,
                                                const std::string& value) const;

  PendingTable& table_;
  bool in_order_;
  Undo undo_;
  mutable std::array<Known, 2> known_;  // by index
};

}  // namespace headrace::objects

// The entries of a map, in its table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "objects/format/key_form.hpp"
#include "objects/heaps.hpp"
#include "objects/pending_table.hpp"

namespace headrace::objects {

// A key as KeyForm writes it, and its value.
using MapEntry = std::pair<std::string, std::string>;

// A value as an entry has it: here, or in a heap, where it is large.
struct MapValue {
  std::optional<HeapId> heap = std::nullopt;
  std::string bytes;

  bool operator==(const MapValue&) const = default;
};
std::string encode(const MapValue& value);
// Throws Error (corrupt).
MapValue decode_map_value(std::string_view bytes);

// Those of an entry of a map's table, whose key begins with kEntry. Throws Error (corrupt).
std::vector<MapEntry> entries_of(const std::string& stored, const std::string& value);
// What the table counts. Throws Error (corrupt).
std::uint64_t number_of_entries(const Value& sums);

// One thread. Throws Error, and has changed nothing then.
class Entries {
 public:
  // `table`, of the map, outlives the object. `name`: the map's, for errors.
  Entries(PendingTable& table, KeyForm form, std::string name)
      : table_(table), form_(std::move(form)), name_(std::move(name)) {}

  [[nodiscard]] const KeyForm& form() const { return form_; }
  [[nodiscard]] std::optional<std::string> find(const std::string& key) const;
  [[nodiscard]] std::uint64_t count() const;
  void put(const std::string& key, const std::string& value);
  // False where there is none.
  bool erase(const std::string& key);
  // At most so many, in their order: from a key on, or behind it.
  [[nodiscard]] std::vector<MapEntry> from(const std::string& key, bool behind,
                                           std::size_t most) const;

  // A Merge of what these make of the table.
  Value merge(const Meeting& meeting, Lost& lost);

 private:
  void add_to_count(std::uint64_t entries);
  struct MeetingValues;
  Value merge_one(const MeetingValues& meeting, Lost& lost);

  PendingTable& table_;
  KeyForm form_;
  std::string name_;
};

}  // namespace headrace::objects

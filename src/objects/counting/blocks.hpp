// Counts of a group's links, in blocks of neighbouring entries of its table: an index leads to a
// block at once, whatever the number of links. Groups of many links have them stored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "objects/pending_table.hpp"

namespace headrace::objects {

// Entries whose keys are from `begin` on and in front of `end`.
struct Block {
  std::string begin;
  std::string end;
  std::int64_t links = 0;
};

// Of a block when it is made. One of more than kMostInBlock is cut, one of fewer than kFewInBlock
// joins the next.
inline constexpr std::int64_t kInBlock = 1024;
inline constexpr std::int64_t kMostInBlock = 2 * kInBlock;
inline constexpr std::int64_t kFewInBlock = kInBlock / 4;

// All entries of one kind (kName, kOrder).
Block whole(char kind);
// How many links an entry of such a key has.
std::int64_t links_in(const std::string& key, const std::string& value);
inline std::int64_t links_in(const std::string& key, const Value& value) {
  return value ? links_in(key, *value) : 0;
}
// The block in pieces of about kInBlock links, which are counted, changes included: at least one.
std::vector<Block> cut(PendingTable& table, const Block& block);
// What is stored of a group's links, at one moment; of one that is not counted each kind is whole.
struct StoredCounts {
  store::Version version = store::kAbsent;  // of the sums, which any change changes
  std::vector<Block> names;
  std::vector<Block> orders;
};
// Throws Error (corrupt) where counts do not fit each other.
StoredCounts stored_counts(const PendingTable& table, bool in_order);
// What the changes of a table make of the counts of its links, in the same commit. May change the
// sums. `in_order`: the group has kOrder, too.
std::vector<Derived> count_changes(PendingTable& table, bool in_order);

}  // namespace headrace::objects

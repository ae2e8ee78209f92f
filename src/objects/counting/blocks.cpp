#include "objects/counting/blocks.hpp"

#include <limits>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "objects/format/counted_block.hpp"
#include "objects/format/fields.hpp"
#include "objects/keys.hpp"
#include "objects/links.hpp"

namespace headrace::objects {
namespace {

constexpr std::size_t kAtOnce = 1000;
constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

std::string encode(const Block& block) {
  return encode(CountedBlock{block.begin, static_cast<std::uint64_t>(block.links)});
}

Block decode_block(const store::Entry& entry) {
  CountedBlock block = decode_counted_block(store::text_of(entry.value));
  return {std::move(block.begin), entry.key.substr(1), static_cast<std::int64_t>(block.links)};
}

// Whether each begins where the one before ends, and they have as many links together.
bool are_all_of(const std::vector<Block>& blocks, Block all) {
  for (const Block& block : blocks) {
    if (block.begin != all.begin || block.links < 0 || block.links > all.links) return false;
    all.begin = block.end;
    all.links -= block.links;
  }
  return all.begin == all.end && all.links == 0;
}

// Instead of all counts there may be.
std::vector<Derived> replaced(const PendingTable& table, const std::vector<Block>& blocks) {
  std::map<std::string, store::Version> before;
  for (const store::Entry& entry : table.stored_from(std::string(1, kCount), kAll))
    before.emplace(entry.key, entry.version);
  std::vector<Derived> changes;
  for (const Block& block : blocks) {
    const std::string key = key_of_block(block.end);
    const auto found = before.find(key);
    changes.push_back({key, encode(block), found == before.end() ? store::kAbsent : found->second});
    if (found != before.end()) before.erase(found);
  }
  for (const auto& [key, version] : before) changes.push_back({key, std::nullopt, version});
  return changes;
}

// Of the blocks of one kind.
class Update {
 public:
  Update(PendingTable& table, char kind) : table_(table), kind_(kind), whole_(whole(kind)) {}

  void add_to(std::vector<Derived>& changes) {
    count();
    join();
    for (const auto& [end, one] : touched_) {
      if (one.is_gone) {
        changes.push_back({key_of_block(end), std::nullopt, one.version});
      } else if (one.block.links >= 0 && one.block.links <= kMostInBlock) {
        changes.push_back({key_of_block(end), encode(one.block), one.version});
      } else {
        for (const Block& piece : cut(table_, one.block)) {
          const std::string key = key_of_block(piece.end);
          changes.push_back(
              {key, encode(piece), piece.end == end ? one.version : table_.version(key)});
        }
      }
    }
  }

 private:
  struct Touched {
    Block block;
    store::Version version = store::kAbsent;
    bool is_gone = false;
  };

  Touched& block_of(const std::string& key) {
    const auto entries = table_.stored_from(key_of_block(key) + '\0', 1);
    if (entries.empty() || !entries.front().key.starts_with(kCount) ||
        entries.front().key > key_of_block(whole_.end))
      fail_damaged("the counts of a group's links");
    Block block = decode_block(entries.front());
    const std::string end = block.end;
    return touched_.try_emplace(end, Touched{std::move(block), entries.front().version, false})
        .first->second;
  }

  // A number may be below zero: it is one that another has changed meanwhile, or damaged, and
  // counted anew.
  void count() {
    Touched* current = nullptr;
    table_.each_change(std::string(1, kind_),
                       [&](const std::string& key, const Value& base, const Value& value) {
                         const std::int64_t more = links_in(key, value) - links_in(key, base);
                         if (more == 0) return;
                         if (current == nullptr || key >= current->block.end)
                           current = &block_of(key);
                         current->block.links += more;
                       });
  }

  void join() {
    for (auto& [end, one] : touched_) {
      if (one.block.links >= kFewInBlock || end == whole_.end) continue;
      Touched& next = block_of(end);
      next.block.links += one.block.links;
      next.block.begin = one.block.begin;
      one.is_gone = true;
    }
  }

  PendingTable& table_;
  char kind_;
  Block whole_;
  std::map<std::string, Touched> touched_;  // by their ends
};

// Where another has changed the group meanwhile, these do not fit its blocks, which may be gone.
// Then what is written with them is refused, and they are made once more.
std::vector<Derived> updated(PendingTable& table, const std::string& kinds) try {
  std::vector<Derived> changes;
  for (const char kind : kinds) Update(table, kind).add_to(changes);
  return changes;
} catch (const Error&) {
  if (table.is_current(std::string(kSums))) throw;
  return {};
}

std::vector<Derived> counted_anew(PendingTable& table, const std::string& kinds) {
  std::vector<Block> blocks;
  for (const char kind : kinds) {
    const auto pieces = cut(table, whole(kind));
    blocks.insert(blocks.end(), pieces.begin(), pieces.end());
  }
  return replaced(table, blocks);
}

}  // namespace

Block whole(char kind) {
  return {std::string(1, kind), std::string(1, static_cast<char>(kind + 1)), 0};
}

std::int64_t links_in(const std::string& key, const std::string& value) {
  if (!key.starts_with(kName) || key.size() <= kLongName) return 1;
  return std::ssize(links_of_entry(key, value));
}

std::vector<Block> cut(PendingTable& table, const Block& block) {
  std::vector<Block> pieces{{block.begin, block.end, 0}};
  for (std::string from = block.begin; true;) {
    const auto entries = table.scan(from, kAtOnce);
    for (const auto& [key, value] : entries) {
      if (key >= block.end) break;
      if (pieces.back().links >= kInBlock) {
        pieces.back().end = key;
        pieces.push_back({key, block.end, 0});
      }
      pieces.back().links += links_in(key, value);
    }
    if (entries.empty() || entries.back().first >= block.end) break;
    from = entries.back().first + '\0';
  }
  if (pieces.size() > 1 && pieces.back().links < kFewInBlock) {
    const Block last = std::move(pieces.back());
    pieces.pop_back();
    pieces.back().end = last.end;
    pieces.back().links += last.links;
  }
  return pieces;
}

StoredCounts stored_counts(const PendingTable& table, bool in_order) {
  StoredCounts counts;
  Sums sums;
  for (const store::Entry& entry : table.stored_from(std::string(kSums), kAll)) {
    if (entry.key == kSums) {
      counts.version = entry.version;
      sums = decode_sums(std::string(store::text_of(entry.value)));
    } else if (sums.counted && entry.key.starts_with(kCount)) {
      const bool is_name = entry.key <= key_of_block(whole(kName).end);
      (is_name ? counts.names : counts.orders).push_back(decode_block(entry));
    }
  }
  const auto check = [&](std::vector<Block>& blocks, char kind) {
    Block all = whole(kind);
    all.links = static_cast<std::int64_t>(sums.links);
    if (!sums.counted) blocks = {all};
    if (!are_all_of(blocks, all)) fail_damaged("the counts of a group's links");
  };
  check(counts.names, kName);
  if (in_order) check(counts.orders, kOrder);
  return counts;
}

std::vector<Derived> count_changes(PendingTable& table, bool in_order) {
  bool is_changed = false;
  Sums before;
  Value value;
  table.each_change(std::string(kSums),
                    [&](const std::string& /*key*/, const Value& base, const Value& mine) {
                      is_changed = true;
                      before = decode_sums(base);
                      value = mine;
                    });
  if (!is_changed) return {};
  Sums sums = decode_sums(value);
  const bool was_counted = sums.counted;
  sums.counted = sums.links > 0 && (before.counted || sums.links > kMostInBlock);
  if (value && sums.counted != was_counted) table.set(std::string(kSums), encode(sums));
  if (!sums.counted) return before.counted ? replaced(table, {}) : std::vector<Derived>();
  const std::string kinds = in_order ? std::string{kName, kOrder} : std::string{kName};
  return before.counted ? updated(table, kinds) : counted_anew(table, kinds);
}

}  // namespace headrace::objects

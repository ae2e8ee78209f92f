#include "objects/entries.hpp"

#include <limits>
#include <map>

#include "objects/alike.hpp"
#include "objects/format/fields.hpp"
#include "objects/keys.hpp"

namespace headrace::objects {
namespace {

constexpr char kHere = 0;
constexpr char kInHeap = 1;

bool is_long_key(std::string_view key) { return key.size() >= kLongName; }
std::string rest_of_key(std::string_view key) { return std::string(key.substr(kLongName)); }

// Values of keys that begin alike, by the rest of their keys.
using ValuesAlike = std::map<std::string, std::string, std::less<>>;

ValuesAlike decode_values_alike(const Value& value) {
  ValuesAlike alike;
  if (!value) return alike;
  std::string_view bytes = *value;
  while (!bytes.empty()) {
    std::string rest = take_text(bytes);
    alike.insert_or_assign(std::move(rest), take_text(bytes));
  }
  return alike;
}

Value encode(const ValuesAlike& alike) {
  if (alike.empty()) return std::nullopt;
  std::string bytes;
  for (const auto& [rest, value] : alike) {
    put_text(bytes, rest);
    put_text(bytes, value);
  }
  return bytes;
}

}  // namespace

std::uint64_t number_of_entries(const Value& sums) {
  if (!sums) return 0;
  std::string_view bytes = *sums;
  const std::uint64_t number = take_varint(bytes);
  if (!bytes.empty()) fail_damaged("the number of a map's entries");
  return number;
}

std::vector<MapEntry> entries_of(const std::string& stored, const std::string& value) {
  const std::string key = stored.substr(1);
  if (!is_long_key(key)) return {{key, value}};
  std::vector<MapEntry> entries;
  for (auto& [rest, one] : decode_values_alike(value)) entries.emplace_back(key + rest, one);
  return entries;
}

std::string encode(const MapValue& value) {
  if (!value.heap) return kHere + value.bytes;
  std::string bytes(1, kInHeap);
  for (const std::uint64_t number :
       {value.heap->heap, std::uint64_t{value.heap->offset}, std::uint64_t{value.heap->size}})
    put_varint(bytes, number);
  return bytes;
}

MapValue decode_map_value(std::string_view bytes) {
  const std::uint8_t where = take_byte(bytes);
  if (where == kHere) return {std::nullopt, std::string(bytes)};
  if (where != kInHeap) fail_damaged("a value of a map");
  HeapId id;
  id.heap = take_varint(bytes);
  const std::uint64_t offset = take_varint(bytes);
  const std::uint64_t size = take_varint(bytes);
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (!bytes.empty() || offset > kMost || size > kMost || id.heap == 0)
    fail_damaged("a value of a map");
  id.offset = static_cast<std::uint32_t>(offset);
  id.size = static_cast<std::uint32_t>(size);
  return {id, {}};
}

std::optional<std::string> Entries::find(const std::string& key) const {
  Value value = table_.find(key_of_entry(key));
  if (!value || !is_long_key(key)) return value;
  return in(decode_values_alike(value), rest_of_key(key));
}

std::uint64_t Entries::count() const { return number_of_entries(table_.find(std::string(kSums))); }

void Entries::add_to_count(std::uint64_t entries) {
  std::string bytes;
  put_varint(bytes, count() + entries);
  table_.set(std::string(kSums), bytes);
}

void Entries::put(const std::string& key, const std::string& value) {
  const std::string stored = key_of_entry(key);
  table_.prepare(stored);
  table_.prepare(std::string(kSums));
  const Value before = table_.find(stored);
  bool is_new = !before;
  if (is_long_key(key)) {
    ValuesAlike alike = decode_values_alike(before);
    is_new = alike.insert_or_assign(rest_of_key(key), value).second;
    table_.set(stored, encode(alike));
  } else {
    table_.set(stored, value);
  }
  if (is_new) add_to_count(1);
}

bool Entries::erase(const std::string& key) {
  if (!find(key)) return false;
  const std::string stored = key_of_entry(key);
  table_.prepare(stored);
  table_.prepare(std::string(kSums));
  if (is_long_key(key)) {
    ValuesAlike alike = decode_values_alike(table_.find(stored));
    alike.erase(rest_of_key(key));
    table_.set(stored, encode(alike));
  } else {
    table_.set(stored, std::nullopt);
  }
  add_to_count(~std::uint64_t{0});
  return true;
}

std::vector<MapEntry> Entries::from(const std::string& key, bool behind, std::size_t most) const {
  std::vector<MapEntry> found;
  std::string next = key_of_entry(key);
  while (found.size() < most) {
    const auto stored = table_.scan(next, most - found.size());
    for (const auto& [its_key, value] : stored) {
      if (!its_key.starts_with(kEntry)) return found;
      for (MapEntry& one : entries_of(its_key, value)) {
        const bool is_wanted = one.first > key || (one.first == key && !behind);
        if (is_wanted && found.size() < most) found.push_back(std::move(one));
      }
    }
    if (stored.empty()) break;
    next = stored.back().first + '\0';
  }
  return found;
}

struct Entries::MeetingValues {
  std::string key;
  Value base;
  Value mine;
  Value theirs;
};

Value Entries::merge_one(const MeetingValues& meeting, Lost& lost) {
  const auto& [key, base, mine, theirs] = meeting;
  if (mine == base) return theirs;
  if (theirs == base) return mine;
  // What is the same both have counted.
  add_to_count(static_cast<std::uint64_t>(base.has_value()) -
               static_cast<std::uint64_t>(mine.has_value()));
  if (mine != theirs)
    lost.emplace_back(
        "another has put or deleted the key " + form_.words(key) + " of " + name_ + ", too",
        ErrorKind::conflict);
  return theirs;
}

Value Entries::merge(const Meeting& meeting, Lost& lost) {
  const auto& [key, base, mine, theirs, version] = meeting;
  if (key == kSums) {
    std::string bytes;
    put_varint(bytes,
               number_of_entries(theirs) + (number_of_entries(mine) - number_of_entries(base)));
    return bytes;
  }
  const std::string begin = key.substr(1);
  if (!is_long_key(begin)) return merge_one({begin, base, mine, theirs}, lost);
  return encode(merge_alike(decode_values_alike(base), decode_values_alike(mine),
                            decode_values_alike(theirs),
                            [&](const std::string& rest, auto... values) {
                              return merge_one({begin + rest, std::move(values)...}, lost);
                            }));
}

}  // namespace headrace::objects

#include "objects/links.hpp"

#include <algorithm>
#include <cerrno>
#include <map>

#include "base/report/printable.hpp"
#include "objects/alike.hpp"
#include "objects/format/fields.hpp"
#include "objects/keys.hpp"

namespace headrace::objects {
namespace {

std::string sums_key() { return std::string(kSums); }

constexpr char kCounted = 1;

// Links whose names begin alike, by the rest of their names.
using Alike = std::map<std::string, Link, std::less<>>;

Alike decode_alike(const Value& value) {
  Alike alike;
  if (!value) return alike;
  std::string_view bytes = *value;
  while (!bytes.empty()) {
    std::string rest = take_text(bytes);
    alike.emplace(std::move(rest), take_link(bytes));
  }
  return alike;
}

Value encode(const Alike& alike) {
  if (alike.empty()) return std::nullopt;
  std::string bytes;
  for (const auto& [rest, link] : alike) {
    put_text(bytes, rest);
    put(bytes, link);
  }
  return bytes;
}

bool is_long(std::string_view name) { return name.size() >= kLongName; }

std::string rest_of(std::string_view name) { return std::string(name.substr(kLongName)); }

std::optional<Link> decoded(const Value& value) {
  return value ? std::optional(decode_link(*value)) : std::nullopt;
}

}  // namespace

std::string encode(const Sums& sums) {
  std::string bytes;
  put_varint(bytes, sums.links);
  put_varint(bytes, sums.stamps);
  if (sums.counted) bytes += kCounted;
  return bytes;
}

Sums decode_sums(const Value& value) {
  Sums sums;
  if (!value) return sums;
  std::string_view bytes = *value;
  sums.links = take_varint(bytes);
  sums.stamps = take_varint(bytes);
  sums.counted = !bytes.empty();
  if ((sums.counted && take_byte(bytes) != kCounted) || !bytes.empty())
    fail_damaged("the number of a group's links");
  return sums;
}

std::vector<NamedLink> links_of_entry(const std::string& key, const std::string& value) {
  const std::string name = key.substr(1);
  if (!is_long(name)) return {{name, decode_link(value)}};
  std::vector<NamedLink> links;
  for (auto& [rest, link] : decode_alike(value)) links.emplace_back(name + rest, link);
  return links;
}

std::optional<Link> Links::find(const std::string& name) const {
  const Value value = table_.find(key_of_name(name));
  if (!value) return std::nullopt;
  if (!is_long(name)) return decode_link(*value);
  return in(decode_alike(value), rest_of(name));
}

std::uint64_t Links::count() const { return decode_sums(table_.find(sums_key())).links; }

std::uint64_t Links::stamps() const { return decode_sums(table_.find(sums_key())).stamps; }

void Links::insert(const std::string& name, Link link, std::uint32_t lease) {
  if (find(name)) throw Error("name already exists: " + printable(name), EEXIST);
  const std::string key = key_of_name(name);
  table_.prepare(key);
  table_.prepare(sums_key());
  Sums sums = decode_sums(table_.find(sums_key()));
  ++sums.links;
  link.stamp = sums.stamps++;
  link.lease = lease;
  if (in_order_) table_.prepare(key_of_order(link.stamp, lease));
  if (is_long(name)) {
    Alike alike = decode_alike(table_.find(key));
    alike.emplace(rest_of(name), link);
    table_.set(key, encode(alike));
  } else {
    table_.set(key, encode(link));
  }
  if (in_order_) table_.set(key_of_order(link.stamp, lease), name);
  table_.set(sums_key(), encode(sums));
  note(Index::name, key, 1);
  note(Index::creation, key_of_order(link.stamp, lease), 1);
}

void Links::erase(const std::string& name) {
  const auto link = find(name);
  if (!link) throw Error("no link " + printable(name), ErrorKind::not_found);
  const std::string key = key_of_name(name);
  table_.prepare(key);
  table_.prepare(sums_key());
  if (in_order_) table_.prepare(key_of_order(link->stamp, link->lease));
  if (is_long(name)) {
    Alike alike = decode_alike(table_.find(key));
    alike.erase(rest_of(name));
    table_.set(key, encode(alike));
  } else {
    table_.set(key, std::nullopt);
  }
  if (in_order_) table_.set(key_of_order(link->stamp, link->lease), std::nullopt);
  add_to_count(~std::uint64_t{0});
  note(Index::name, key, -1);
  note(Index::creation, key_of_order(link->stamp, link->lease), -1);
}

void Links::add_to_count(std::uint64_t links) {
  Sums sums = decode_sums(table_.find(sums_key()));
  sums.links += links;
  if (sums.links == 0) sums.stamps = 0;
  table_.set(sums_key(), encode(sums));
}

std::vector<NamedLink> Links::by_name(const std::string& from, bool behind,
                                      std::size_t most) const {
  std::vector<NamedLink> links;
  std::string next = key_of_name(from);
  while (links.size() < most) {
    const auto entries = table_.scan(next, most - links.size());
    for (const auto& [key, value] : entries) {
      if (!key.starts_with(kName)) return links;
      for (NamedLink& one : links_of_entry(key, value)) {
        const bool is_behind = one.first > from || (one.first == from && !behind);
        if (is_behind && links.size() < most) links.push_back(std::move(one));
      }
    }
    if (entries.empty()) break;
    next = entries.back().first + '\0';
  }
  return links;
}

std::vector<NamedLink> Links::by_order(const Link* behind, std::size_t most) const {
  std::vector<NamedLink> links;
  std::string next = behind == nullptr ? std::string(1, kOrder)
                                       : key_of_order(behind->stamp, behind->lease) + '\0';
  while (links.size() < most) {
    const auto entries = table_.scan(next, most - links.size());
    for (const auto& [key, name] : entries) {
      if (!key.starts_with(kOrder)) return links;
      const auto link = find(name);
      if (link && key == key_of_order(link->stamp, link->lease)) links.emplace_back(name, *link);
    }
    if (entries.empty()) break;
    next = entries.back().first + '\0';
  }
  return links;
}

struct Links::MeetingLinks {
  std::string name;
  std::optional<Link> base;
  std::optional<Link> mine;
  std::optional<Link> theirs;
};

std::optional<Link> Links::merge_one(const MeetingLinks& meeting, Lost& lost) {
  const auto& [name, base, mine, theirs] = meeting;
  if (mine == base) return theirs;
  if (theirs == base) return mine;
  if (mine && mine == theirs) return theirs;  // it was made, though that was not known
  if (undo_) undo_(base, mine);
  // What this writer has added to the count goes, as another's link, or erasure, stands.
  add_to_count(static_cast<std::uint64_t>(base.has_value()) -
               static_cast<std::uint64_t>(mine.has_value()));
  if (in_order_ && mine) table_.set(key_of_order(mine->stamp, mine->lease), std::nullopt);
  if (mine || theirs)
    lost.emplace_back("another has made or changed the link " + printable(name) + ", too",
                      ErrorKind::conflict);
  return theirs;
}

Value Links::merge(const Meeting& meeting, Lost& lost) {
  const auto& [key, base, mine, theirs, version] = meeting;
  known_ = {};
  if (key == kSums) {
    Sums sums = decode_sums(theirs);
    const Sums own = decode_sums(mine);
    sums.links += own.links - decode_sums(base).links;
    sums.stamps = std::max(sums.stamps, own.stamps);
    return encode(sums);
  }
  if (!key.starts_with(kName)) return mine;  // an order, of this writer's links alone
  const std::string begin = key.substr(1);
  if (is_long(begin))
    return encode(merge_alike(decode_alike(base), decode_alike(mine), decode_alike(theirs),
                              [&](const std::string& rest, auto... links) {
                                return merge_one({begin + rest, std::move(links)...}, lost);
                              }));
  const auto merged = merge_one({begin, decoded(base), decoded(mine), decoded(theirs)}, lost);
  return merged ? Value(encode(*merged)) : std::nullopt;
}

}  // namespace headrace::objects

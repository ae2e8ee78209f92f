#include "objects/check/survey.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/report/printable.hpp"
#include "objects/committed_type.hpp"
#include "objects/counting/blocks.hpp"
#include "objects/keys.hpp"
#include "objects/ranges.hpp"

namespace headrace::objects {
namespace {

constexpr std::size_t kIdBytes = sizeof(ObjectId);

std::vector<ObjectId> committed_types_of(const Header& header) {
  std::vector<ObjectId> types;
  const auto add = [&](std::string_view type) {
    if (const auto committed = committed_type(type)) types.push_back(*committed);
  };
  // A committed type's own is never one.
  if (header.kind == Header::Kind::dataset) add(header.type);
  for (const Attribute& one : header.attributes) add(one.type);
  return types;
}

}  // namespace

Survey::Survey(store::Store& store, std::string container, Tell tell)
    : store_(store), container_(std::move(container)), tell_(std::move(tell)) {
  const std::string prefix = container_ + "/";
  std::string behind;
  for (auto tables = store.tables(prefix, behind, kAtATime); !tables.empty();
       tables = store.tables(prefix, behind, kAtATime)) {
    for (const std::string& table : tables) read_table(table);
    behind = tables.back();
  }
  reach();
  for (Early& one : early_) damage(path_of(one.object), one.key, std::move(one.cause));
  early_.clear();
}

void Survey::note_early(ObjectId group, const std::string& key, const char* cause) {
  const bool is_header = key.starts_with(kHeader) && key.size() == 1 + kIdBytes;
  early_.push_back({is_header ? number_in(std::string_view(key).substr(1)) : group, key, cause});
}

void Survey::damage(std::string object, const std::string& key, std::string cause) {
  is_uncertain_ = true;
  tell_({Finding::Kind::damage, std::move(object), printable(key), std::move(cause)});
}

void Survey::garbage(std::string object, const std::string& key, std::string cause) const {
  tell_({Finding::Kind::garbage, std::move(object), printable(key), std::move(cause)});
}

void Survey::read_table(const std::string& table) try {
  const std::string of_groups = container_ + "/t/";
  if (table.starts_with(of_groups) && table.size() == of_groups.size() + kIdBytes)
    read_group(number_in(std::string_view(table).substr(of_groups.size())), table);
  else if (table == table_of_places(container_))
    read_places(table);
  else if (table == table_of_leases(container_))
    read_leases(table);
  else
    damage({}, table, "is a table of no kind");
} catch (const Error& error) {
  damage({}, table, error.what());
}

void Survey::read_group(ObjectId group, const std::string& table) {
  GroupTable& into = groups[group];
  std::map<std::string, std::string> orders;  // names, by the keys that lead to them by stamps
  read_counts(group, into, table);
  each_entry(store_, table, [&](const store::Entry& entry) {
    try {
      read_entry(group, into, orders, entry);
    } catch (const Error& error) {
      note_early(group, entry.key, error.what());
    }
  });
  for (auto& [key, name] : orders) into.unordered.push_back(std::move(name));
}

// Before what they count.
void Survey::read_counts(ObjectId group, GroupTable& into, const std::string& table) {
  for (const store::Entry& entry :
       store_.scan(table, std::string(1, kCount), std::numeric_limits<std::size_t>::max())) {
    try {
      into.counts[entry.key.substr(1)] = {decode_counted_block(store::text_of(entry.value))};
    } catch (const Error& error) {
      note_early(group, entry.key, error.what());
    }
  }
}

// Names come before what leads to them by stamps.
void Survey::read_entry(ObjectId group, GroupTable& into,
                        std::map<std::string, std::string>& orders, const store::Entry& entry) {
  const std::string& key = entry.key;
  const std::string value(store::text_of(entry.value));
  const bool is_counted = key.starts_with(kName) || key.starts_with(kOrder);
  if (const auto at = into.counts.upper_bound(key); is_counted && at != into.counts.end())
    at->second.found += static_cast<std::uint64_t>(links_in(key, value));
  if (key == kSums) {
    into.sums = value;
  } else if (key.starts_with(kCount) || (key == kStub && group == kRootId)) {
    return;
  } else if (key.starts_with(kName)) {
    read_links(into, orders, key, value);
  } else if (key.starts_with(kEntry)) {
    for (const auto& [its_key, its_value] : entries_of(key, value)) {
      ++into.entries;
      const auto heap = decode_map_value(its_value).heap;
      if (!heap) continue;
      const std::uint64_t end = std::uint64_t{heap->offset} + heap->size;
      HeapUse& use = into.heaps[heap->heap];
      if (end > use.end) use = {end, key};
    }
  } else if (key.starts_with(kHeader) && key.size() == 1 + kIdBytes) {
    read_header(group, key, value);
  } else if (key.starts_with(kOrder)) {
    const auto found = orders.find(key);
    if (found == orders.end() || found->second != value)
      into.stale_orders.insert(key);
    else
      orders.erase(found);
  } else {
    throw Error("is an entry of no kind", ErrorKind::corrupt);
  }
}

void Survey::read_links(GroupTable& into, std::map<std::string, std::string>& orders,
                        const std::string& key, const std::string& value) {
  for (auto& [name, link] : links_of_entry(key, value)) {
    ++into.links;
    into.largest = std::max(into.largest, link.stamp + 1);
    orders[key_of_order(link.stamp, link.lease)] = name;
    if (link.kind == Link::Kind::hard)
      into.hard.push_back({link.object, link.home, std::move(name)});
  }
}

void Survey::read_header(ObjectId home, const std::string& key, const std::string& value) {
  const ObjectId object = number_in(std::string_view(key).substr(1));
  const auto [at, is_new] = objects.try_emplace(object);
  if (!is_new) throw Error(named(object) + " has two headers", ErrorKind::corrupt);
  Surveyed& found = at->second;
  found.home = home;
  const Header header = decode_header(value);
  found.is_readable = true;
  found.kind = header.kind;
  found.in_order = header.in_order;
  found.kept = header.kept;
  found.links = header.links;
  found.epoch = header.epoch;
  found.dims = header.dims;
  found.chunk = header.chunk;
  found.cuts = header.cuts;
  found.types = committed_types_of(header);
}

void Survey::read_places(const std::string& table) {
  ObjectId before = 0;
  each_entry(store_, table, [&](const store::Entry& entry) {
    const std::string_view value = store::text_of(entry.value);
    if (entry.key.size() != kIdBytes || value.size() != 2 * kIdBytes)
      return damage({}, entry.key, "is no place of objects");
    const ObjectId last = number_in(entry.key);
    const PlaceRange range{number_in(value.substr(0, kIdBytes)), number_in(value.substr(kIdBytes))};
    if (range.first <= before || range.first > last)
      return damage({}, entry.key, "is a place of objects that have another one");
    places[last] = range;
    before = last;
  });
}

void Survey::read_leases(const std::string& table) {
  each_entry(store_, table, [&](const store::Entry& entry) {
    if (entry.key.size() != sizeof(std::uint32_t)) return damage({}, entry.key, "is no lease");
    leases.insert(static_cast<std::uint32_t>(number_in(entry.key)));
  });
}

// Goes from the root, and from what programs have counted references to, along hard links and to
// committed types.
void Survey::reach() {
  std::vector<ObjectId> left;
  if (const auto root = objects.find(kRootId); root != objects.end()) {
    root->second.is_reached = true;
    ++root->second.found;
    left.push_back(kRootId);
  } else {
    damage("/", key_of_header(kRootId), "the root group has no header");
  }
  follow_all(left);
  for (auto& [id, object] : objects) {
    if (object.is_reached || !object.kept || object.links == 0) continue;
    object.is_reached = true;
    left.push_back(id);
    follow_all(left);
  }
}

void Survey::follow_all(std::vector<ObjectId>& left) {
  while (!left.empty()) {
    const ObjectId object = left.back();
    left.pop_back();
    if (objects.at(object).kind == Header::Kind::group) follow_links(object, left);
    follow_types(object, left);
  }
}

void Survey::follow_links(ObjectId group, std::vector<ObjectId>& left) {
  const auto table = groups.find(group);
  if (table == groups.end()) return;
  for (const HardLink& link : table->second.hard) {
    const auto found = objects.find(link.object);
    if (found == objects.end() || found->second.home != link.home) {
      const std::string path = path_of(group);
      damage(path + (path.ends_with('/') ? "" : "/") + printable(link.name), key_of_name(link.name),
             "the link leads to " + named(link.object) + ", which has no header");
      continue;
    }
    Surveyed& object = found->second;
    ++object.found;
    if (object.is_reached) continue;
    object.is_reached = true;
    object.parent = group;
    object.name = &link.name;
    if (object.is_readable) left.push_back(link.object);
  }
}

// A committed type lives as long as what is of it, also when its last link is gone. One that is
// gone itself is no damage: what is of it has the type, too.
void Survey::follow_types(ObjectId object, std::vector<ObjectId>& left) {
  for (const ObjectId type : objects.at(object).types) {
    const auto found = objects.find(type);
    if (found == objects.end()) continue;
    ++found->second.references;
    if (std::exchange(found->second.is_reached, true)) continue;
    if (found->second.is_readable) left.push_back(type);
  }
}

std::string Survey::path_of(ObjectId object) const {
  if (object == kRootId) return "/";
  std::string path;
  while (object != kRootId) {
    const auto found = objects.find(object);
    if (found == objects.end() || found->second.name == nullptr)
      return "(" + named(object) + ")" + path;
    path.insert(0, "/" + printable(*found->second.name));
    object = found->second.parent;
  }
  return path;
}

bool Survey::is_living(ObjectId object) const {
  const auto found = objects.find(object);
  return found != objects.end() && found->second.is_reached;
}

bool Survey::is_living(ObjectId object, Header::Kind kind) const {
  return is_living(object) && objects.at(object).is_readable && objects.at(object).kind == kind;
}

bool Survey::has_living(ObjectId first, ObjectId last) const {
  return std::any_of(objects.lower_bound(first), objects.upper_bound(last),
                     [](const auto& one) { return one.second.is_reached; });
}

}  // namespace headrace::objects

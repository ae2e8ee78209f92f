// How a container is written.
#include <algorithm>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "objects/container.hpp"
#include "objects/keys.hpp"
#include "objects/ranges.hpp"

namespace headrace::objects {
namespace {

// Objects of ids in a row whose headers are in one table, under the last of them.
std::string encode_places(ObjectId first, ObjectId home) {
  return in_order(first) + in_order(home);
}

}  // namespace

Header Container::to_be_stored(const Object& object) const {
  Header header = object.header_;
  if (const auto held = held_back_.find(object.place_.object); held != held_back_.end())
    header.links += held->second.links;
  return header;
}

// A change of a link has come to nothing, as another's stands: nor does what it has counted count.
void Container::undo(ObjectId group, const std::optional<Link>& base,
                     const std::optional<Link>& mine) {
  if (base && base->kind == Link::Kind::hard) adjust(group, {base->object, base->home}, 1);
  if (mine && mine->kind == Link::Kind::hard) adjust(group, {mine->object, mine->home}, -1);
}

void Container::adjust(ObjectId group, Place place, int links) {
  Handle object;
  try {
    object = open(place);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_found) throw;
    return;
  }
  if (object->is_gone_) return;
  if (links > 0) {
    ++change(object).links;
    const auto held = held_back_.find(place.object);
    if (place.home != group && held != held_back_.end() && --held->second.links == 0)
      held_back_.erase(held);
  } else {
    drop_link(group, object);
  }
  // In the table that is being written; another one is written again.
  if (place.home == group) save_header(object);
}

// Erases at most so many links of a group; what they lead to goes with its last one. Whether that
// was all of them.
bool Container::empty_group(Object& group, std::size_t& most) {
  const ObjectId id = group.place_.object;
  Links& links = links_of(group);
  for (std::string last; most > 0;) {
    const auto part = links.by_name(last, /*behind=*/!last.empty(), std::min(kAtATime, most));
    for (const auto& [name, link] : part) {
      Handle object;
      if (link.kind == Link::Kind::hard &&
          error_of([&] { object = open({link.object, link.home}); }) != nullptr)
        object = nullptr;  // another has erased it, or it cannot be read: it is not counted down
      links.erase(name);
      if (object != nullptr) drop_link(id, object);
    }
    most -= part.size();
    if (part.empty()) {
      table(id).set(std::string(kSums), std::nullopt);
      return true;
    }
    last = part.back().first;
  }
  return false;
}

// Its entries lead to no objects, and nothing leads to it.
void Container::empty_map(Object& map) {
  const ObjectId id = map.place_.object;
  entries_.erase(id);
  tables_.erase(id);
  erase_table(store_, table_of_group(name_, id));
}

// Of what was erased; as much at a time as fits in memory. Whether there is more to be written.
bool Container::empty_erased() {
  constexpr std::size_t kMostLinks = 10'000;
  const bool is_more = !emptying_.empty();
  for (std::size_t left = kMostLinks; !emptying_.empty(); emptying_.pop_back()) {
    Object& object = *emptying_.back();
    if (object.header_.kind == Header::Kind::map)
      empty_map(object);
    else if (!empty_group(object, left))
      break;
  }
  return is_more;
}

// Of an object without links. False where another has linked it meanwhile.
bool Container::erase_header(Object& object) {
  const auto [id, home] = object.place_;
  while (!object.is_new()) {
    const auto entry = store_.find(table_of_group(name_, home), key_of_header(id));
    if (!entry) break;
    Header header = decode_header(store::text_of(entry->value));
    if (header.links > 0) {
      object.header_ = object.stored_ = std::move(header);
      object.version_ = entry->version;
      return false;
    }
    const store::Change change{key_of_header(id), std::nullopt, entry->version};
    if (!store_.commit(table_of_group(name_, home), {&change, 1}).refused) break;
  }
  object.is_gone_ = true;
  return true;
}

// Those that the program has open wait for their last handle. Whether there is more to be written.
bool Container::erase_unlinked() {
  for (auto at = unlinked_.begin(); at != unlinked_.end();) {
    const auto& [id, object] = *at;
    constexpr long kOurs = 1;
    const bool is_linked = object->header_.links > 0;
    if (!is_linked && (changed_.contains(id) || object.use_count() > kOurs)) {
      ++at;
      continue;
    }
    if (!is_linked && erase_header(*object)) {
      if (object->header_.kind == Header::Kind::dataset) erased_.push_back(id);
      if (object->header_.kind == Header::Kind::group || object->header_.kind == Header::Kind::map)
        emptying_.push_back(object);
    }
    at = unlinked_.erase(at);
  }
  return empty_erased();
}

// What was made in groups that were never linked and are closed.
void Container::drop_what_nothing_leads_to() {
  std::vector<ObjectId> lost;
  for (const ObjectId id : unnamed_)
    if (const auto found = open_.find(id); found == open_.end() || found->second.expired())
      lost.push_back(id);
  while (!lost.empty()) {
    const ObjectId group = lost.back();
    lost.pop_back();
    unnamed_.erase(group);
    links_.erase(group);
    entries_.erase(group);
    if (tables_.erase(group) == 0) continue;
    std::erase_if(new_places_, [&](Place place) { return place.home == group; });
    for (auto at = changed_.begin(); at != changed_.end();) {
      const auto [id, home] = at->second->place_;
      if (home == group && at->second->is_new()) {
        lost.push_back(id);
        at = not_changed(at);
      } else {
        ++at;
      }
    }
  }
}

void Container::save_header(const Handle& object) {
  const auto [id, home] = object->place_;
  const Value base = object->is_new() ? std::nullopt : Value(encode(object->stored_));
  table(home).replace(key_of_header(id), encode(to_be_stored(*object)), base, object->version_);
  saved_[home].insert(id);
}

void Container::save_headers() {
  for (auto at = changed_.begin(); at != changed_.end();) {
    const Handle& object = at->second;
    const bool was_never = object->is_new() && object->header_.links == 0;
    if (was_never || object->is_gone_) {
      at = not_changed(at);
      continue;
    }
    save_header(object);
    ++at;
  }
}

void Container::save_places() {
  std::ranges::sort(new_places_, {}, &Place::object);
  for (std::size_t i = 0; i < new_places_.size();) {
    const auto [first, home] = new_places_[i];
    ObjectId last = first;
    for (++i; i < new_places_.size() && new_places_[i] == Place{last + 1, home}; ++i) ++last;
    places_.insert_new(in_order(last), encode_places(first, home));
  }
  new_places_.clear();
}

// Places first. New groups before those that were there: nothing leads to a new one before all of
// it is written.
std::vector<ObjectId> Container::in_order_of_flush() const {
  std::vector<ObjectId> before{kPlaces};
  std::vector<ObjectId> after;
  for (const auto& [group, table] : tables_) {
    const auto found = changed_.find(group);
    (found != changed_.end() && found->second->is_new() ? before : after).push_back(group);
  }
  before.insert(before.end(), after.begin(), after.end());
  return before;
}

// Null where nothing of it is to be written.
PendingTable* Container::to_be_written(ObjectId table) {
  const auto found = tables_.find(table);
  if (table != kPlaces && found == tables_.end()) return nullptr;
  PendingTable& its = table == kPlaces ? places_ : found->second;
  return its.size() == 0 ? nullptr : &its;
}

// Of a group's links, as they will be.
std::vector<Derived> Container::counts_of(ObjectId table) {
  const auto links = links_.find(table);
  return links == links_.end() ? std::vector<Derived>() : links->second.count_changes();
}

void Container::flush_tables() {
  const std::vector<ObjectId> all = in_order_of_flush();
  for (auto& [group, table] : tables_) table.become_known();
  for (std::span<const ObjectId> left(all); !left.empty();) left = left.subspan(flush_some(left));
}

// As many of the first of these tables as a store is to write together, as each time it writes
// parts of its file anew. How many have been dealt with.
std::size_t Container::flush_some(std::span<const ObjectId> tables) {
  constexpr std::size_t kMostBytes = 1 << 20;
  constexpr std::size_t kMostTables = 1000;
  std::vector<std::vector<store::Change>> changes;
  std::vector<std::vector<Derived>> derived;  // what some of the changes are of
  std::vector<store::TableChanges> together;
  std::vector<std::size_t> places;
  std::size_t bytes = 0;
  std::size_t looked_at = 0;
  for (; looked_at < tables.size() && together.size() < kMostTables; ++looked_at) {
    PendingTable* const its = to_be_written(tables[looked_at]);
    if (its == nullptr) continue;
    if (bytes > 0 && bytes + its->size() > kMostBytes) break;
    bytes += its->size();
    places.push_back(looked_at);
    derived.push_back(counts_of(tables[looked_at]));
    together.push_back({its->name(), changes.emplace_back(its->changes(derived.back()))});
  }
  if (together.empty()) return looked_at;
  const std::vector<store::Commit> made = store_.commit_in_order(together);
  for (std::size_t i = 0; i < made.size(); ++i) note_written(tables[places[i]], made[i]);
  return made.size() < places.size() ? places[made.size()] : looked_at;
}

void Container::note_written(ObjectId table, const store::Commit& made) {
  PendingTable& its = table == kPlaces ? places_ : tables_.at(table);
  store::Version version = made.version;
  if (!made.refused) its.drop();
  if (made.refused)
    version = its.flush(
        [&](const Meeting& meeting, Lost&) {
          // Nobody else has the lease of new places.
          return table == kPlaces ? meeting.mine : merge(table, meeting);
        },
        lost_, [&] { return counts_of(table); });
  if (table == kPlaces) return;
  note_stored(table, version);
  require_group(table);
}

void Container::note_stored(ObjectId home, store::Version version) {
  for (const ObjectId id : std::exchange(saved_[home], {})) {
    const auto found = changed_.find(id);
    if (found == changed_.end()) continue;
    const Handle object = found->second;
    not_changed(found);
    if (object->is_gone_) continue;
    object->stored_ = to_be_stored(*object);
    object->version_ = version;
  }
}

// Another may have erased the group that something was made in.
void Container::require_group(ObjectId group) {
  const auto found = open_.find(group);
  const Handle open = found == open_.end() ? nullptr : found->second.lock();
  if (open == nullptr || open->is_gone_ || open->is_new() || open->place_.home == 0) return;
  const auto [id, home] = open->place_;
  if (store_.find(table_of_group(name_, home), key_of_header(id))) return;
  open->is_gone_ = true;
  lost_.emplace_back("another has erased " + named(group) + ", in which something was changed",
                     ErrorKind::conflict);
}

Value Container::merge_header(ObjectId object, const Meeting& meeting) {
  const auto& [key, base, mine, theirs, version] = meeting;
  const auto found = changed_.find(object);
  const Handle open = found == changed_.end() ? nullptr : found->second;
  const Header before = base ? decode_header(*base) : Header{};
  if (!mine) return theirs;
  Header now = decode_header(*mine);
  if (!theirs) {
    lost_.emplace_back("another has erased " + named(object), ErrorKind::conflict);
    // A new link keeps it: what it had is gone.
    now.links -= std::min(now.links, before.links);
    if (open != nullptr && now.links == 0) open->is_gone_ = true;
    if (now.links == 0) return std::nullopt;
  } else {
    std::vector<std::string> words;
    now = objects::merge(before, now, decode_header(*theirs), words);
    for (const std::string& what : words)
      lost_.emplace_back("another has changed " + what + " of " + named(object) + ", too",
                         ErrorKind::conflict);
  }
  if (open == nullptr) return encode(now);
  open->stored_ = theirs ? decode_header(*theirs) : Header{};
  open->version_ = version;
  open->header_ = now;
  if (const auto held = held_back_.find(object); held != held_back_.end())
    open->header_.links -= std::min(open->header_.links, held->second.links);
  return encode(now);
}

Value Container::merge(ObjectId group, const Meeting& meeting) {
  if (meeting.key.starts_with(kHeader))
    return merge_header(number_in(std::string_view(meeting.key).substr(1)), meeting);
  if (const auto map = entries_.find(group); map != entries_.end())
    return map->second.merge(meeting, lost_);
  return links_.at(group).merge(meeting, lost_);
}

// After the names that lead to them. Who is killed before leaves chunks that nothing leads to.
void Container::erase_chunks() {
  for (; !erased_.empty(); erased_.pop_back())
    erase_blobs(store_, prefix_of_chunks(name_, erased_.back()));
}

// In rounds: what is written may have others to be written, counts that are lowered and objects
// that are erased when a link is gone.
void Container::write_all() {
  if (before_) before_();
  while (true) {
    drop_what_nothing_leads_to();
    save_headers();
    save_places();
    flush_tables();
    for (const auto& [id, held] : std::exchange(held_back_, {})) changed_[id] = held.object;
    const bool is_more = erase_unlinked();
    if (!is_more && changed_.empty()) break;
  }
  linked_.clear();
  touched_.clear();
  const auto is_closed = [&](const auto& entry) { return !open_.contains(entry.first); };
  std::erase_if(links_, is_closed);  // of those that had changes
  std::erase_if(entries_, is_closed);
  std::erase_if(tables_, is_closed);
  erase_chunks();
}

}  // namespace headrace::objects

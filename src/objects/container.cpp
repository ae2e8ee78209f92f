#include "objects/container.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/error.hpp"
#include "base/report/printable.hpp"
#include "objects/keys.hpp"

namespace headrace::objects {
namespace {

// An id is the lease of its maker and a number.
constexpr unsigned kNumberBits = 36;
constexpr std::uint32_t kMostLease = (1U << 28U) - 1;

Header header_in(const store::Entry& entry) { return decode_header(store::text_of(entry.value)); }

std::string named(ObjectId object) { return "object " + std::to_string(object); }

[[noreturn]] void fail_gone(ObjectId object, const std::string& container) {
  throw Error(named(object) + " of container " + printable(container) + " does not exist",
              ErrorKind::not_found);
}

// Objects of ids in a row whose headers are in one table, under the last of them.
std::string encode_places(ObjectId first, ObjectId home) {
  return in_order(first) + in_order(home);
}

}  // namespace

void Container::make(store::Store& store, const std::string& name, Header root) {
  root.links = 1;
  const std::string value = encode(root);
  const store::Change change{key_of_header(kRoot.object), store::bytes_of(value), store::kAbsent};
  if (store.commit(table_of_group(name, kRoot.home), {&change, 1}).refused)
    throw Error("container " + printable(name) + " exists", EEXIST);
}

Container::Container(store::Store& store, std::string name)
    : store_(store),
      name_(std::move(name)),
      process_(::getpid()),
      places_(store, table_of_places(name_)) {
  root();
}

PendingTable& Container::table(ObjectId group) {
  return tables_.try_emplace(group, store_, table_of_group(name_, group)).first->second;
}

Links& Container::links_of(const Object& group) {
  const ObjectId id = group.place_.object;
  const auto found = links_.find(id);
  if (found != links_.end()) return found->second;
  const auto lose = [this, id](const std::optional<Link>& base, const std::optional<Link>& mine) {
    undo(id, base, mine);
  };
  return links_.try_emplace(id, table(id), group.header_.in_order, lose).first->second;
}

void Container::require_own_process() const {
  if (process_ != ::getpid())
    throw Error("container " + printable(name_) +
                    " was opened before a fork: this process may not change it",
                ErrorKind::unsupported);
}

std::uint32_t Container::lease() {
  if (made_ + 1 >= std::uint64_t{1} << kNumberBits) lease_ = 0;
  while (lease_ == 0) {
    std::uint32_t random = 0;
    if (::getrandom(&random, sizeof random, 0) != sizeof random)
      throw Error("no random number", errno);
    random &= kMostLease;
    const store::Change change{in_order(random), store::Bytes{}, store::kAbsent};
    // The root has the first number of lease 0.
    if (random == 0 || store_.commit(table_of_leases(name_), {&change, 1}).refused) continue;
    lease_ = random;
    made_ = 0;
  }
  return lease_;
}

// Of an object whose last handle is gone: a program may look at any number of groups.
void Container::forget(ObjectId object) noexcept {
  const auto found = open_.find(object);
  if (found == open_.end() || !found->second.expired()) return;
  open_.erase(found);
  const auto table = tables_.find(object);
  if (table == tables_.end() || table->second.size() > 0) return;
  links_.erase(object);
  tables_.erase(table);
}

Handle Container::held(Place place, Header header, store::Version version) {
  Handle object(new Object(place, std::move(header), version), [this](Object* last) {
    forget(last->place_.object);
    delete last;
  });
  open_[place.object] = object;
  return object;
}

Handle Container::open(Place place) {
  if (const auto found = open_.find(place.object); found != open_.end())
    if (auto object = found->second.lock()) return object;
  const auto entry = store_.find(table_of_group(name_, place.home), key_of_header(place.object));
  if (!entry) fail_gone(place.object, name_);
  return held(place, header_in(*entry), entry->version);
}

Place Container::place_of(ObjectId object) {
  if (object == kRoot.object) return kRoot;
  if (const auto found = open_.find(object); found != open_.end())
    if (const auto open = found->second.lock()) return open->place_;
  for (const auto& [last, value] : places_.scan(in_order(object), 1)) {
    const std::string_view bytes(value);
    if (bytes.size() != 16) throw Error("a place of objects is damaged", ErrorKind::corrupt);
    if (number_in(bytes.substr(0, 8)) <= object) return {object, number_in(bytes.substr(8))};
  }
  fail_gone(object, name_);
}

Handle Container::create(Header header) {
  require_own_process();
  const ObjectId id = (ObjectId{lease()} << kNumberBits) + ++made_;
  unnamed_.insert(id);
  return held({id, 0}, std::move(header), store::kAbsent);
}

Header& Container::change(const Handle& object) {
  require_own_process();
  if (object->place_.home != 0) changed_[object->place_.object] = object;
  return object->header_;
}

Header Container::to_be_stored(const Object& object) const {
  Header header = object.header_;
  if (const auto held = held_back_.find(object.place_.object); held != held_back_.end())
    header.links += held->second.links;
  return header;
}

// At once: a count that is too low would have the object erased while a link leads to it.
void Container::raise_links(Object& object) {
  const auto [id, home] = object.place_;
  while (true) {
    const auto entry = store_.find(table_of_group(name_, home), key_of_header(id));
    if (!entry) fail_gone(id, name_);
    Header header = header_in(*entry);
    ++header.links;
    const std::string value = encode(header);
    const store::Change change{key_of_header(id), store::bytes_of(value), entry->version};
    const auto made = store_.commit(table_of_group(name_, home), {&change, 1});
    if (made.refused) continue;
    ++object.header_.links;
    ++object.stored_.links;
    if (object.version_ == entry->version) object.version_ = made.version;
    return;
  }
}

void Container::link(const Object& group, const std::string& name, const Handle& object,
                     bool utf8) {
  require_own_process();
  const auto [id, before] = object->place_;
  const ObjectId home = before == 0 ? group.place_.object : before;
  const bool is_home = home == group.place_.object;
  if (links_of(group).find(name)) throw Error("name already exists: " + printable(name), EEXIST);
  if (!is_home && object->is_new()) write_all();
  if (!is_home) raise_links(*object);
  Link link;
  link.utf8 = utf8;
  link.object = id;
  link.home = home;
  links_of(group).insert(name, std::move(link), lease());
  if (before == 0) {
    object->place_.home = home;
    new_places_.push_back(object->place_);
    unnamed_.erase(id);
  }
  if (is_home) ++change(object).links;
  linked_[id] = group.place_.object;
}

void Container::link(const Object& group, const std::string& name, Link link) {
  require_own_process();
  links_of(group).insert(name, std::move(link), lease());
}

void Container::unlink(const Object& group, const std::string& name) {
  require_own_process();
  const auto link = links_of(group).find(name);
  Handle object;
  if (link && link->kind == Link::Kind::hard) {
    // A new name in another group is written before the old one is erased.
    const auto moved = linked_.find(link->object);
    if (moved != linked_.end() && moved->second != group.place_.object) write_all();
    try {
      object = open({link->object, link->home});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::not_found) throw;  // another has erased it
    }
  }
  links_of(group).erase(name);
  if (object != nullptr) drop_link(group.place_.object, object);
}

void Container::drop_link(ObjectId group, const Handle& object) {
  const auto [id, home] = object->place_;
  // The count is in another table than the link: it is lowered when the link is gone.
  if (home != group && !object->is_new()) {
    auto& [held, links] = held_back_[id];
    held = object;
    ++links;
  }
  Header& header = change(object);
  if (header.links > 0) --header.links;
  if (header.links == 0 && id != kRoot.object) unlinked_[id] = object;
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

// Erases a group's links, a thousand at a time; what they lead to goes with its last one.
void Container::empty_group(Object& group) {
  constexpr std::size_t kAtOnce = 1000;
  const ObjectId id = group.place_.object;
  Links& links = links_of(group);
  for (std::string last; true;) {
    const auto part = links.by_name(last, /*behind=*/!last.empty(), kAtOnce);
    if (part.empty()) break;
    for (const auto& [name, link] : part) {
      Handle object;
      if (link.kind == Link::Kind::hard &&
          error_of([&] { object = open({link.object, link.home}); }) != nullptr)
        object = nullptr;  // another has erased it, or it cannot be read: it is not counted down
      links.erase(name);
      if (object != nullptr) drop_link(id, object);
    }
    last = part.back().first;
  }
  table(id).set(std::string(kSums), std::nullopt);
}

// Of an object without links. False where another has linked it meanwhile.
bool Container::erase_header(Object& object) {
  const auto [id, home] = object.place_;
  while (!object.is_new()) {
    const auto entry = store_.find(table_of_group(name_, home), key_of_header(id));
    if (!entry) break;
    Header header = header_in(*entry);
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
      if (object->header_.kind == Header::Kind::group) emptying_.push_back(object);
    }
    at = unlinked_.erase(at);
  }
  const bool is_more = !emptying_.empty();
  for (; !emptying_.empty(); emptying_.pop_back()) empty_group(*emptying_.back());
  return is_more;
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
    if (tables_.erase(group) == 0) continue;
    std::erase_if(new_places_, [&](Place place) { return place.home == group; });
    for (auto at = changed_.begin(); at != changed_.end();) {
      const auto [id, home] = at->second->place_;
      if (home == group && at->second->is_new()) {
        lost.push_back(id);
        at = changed_.erase(at);
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
      at = changed_.erase(at);
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
  // Nobody else has this lease.
  places_.flush([](const Meeting& meeting, Lost&) { return meeting.mine; }, lost_);
  new_places_.clear();
}

// New groups before those that were there: nothing leads to a new one before all of it is written.
std::vector<ObjectId> Container::in_order_of_flush() const {
  std::vector<ObjectId> before;
  std::vector<ObjectId> after;
  for (const auto& [group, table] : tables_) {
    const auto found = changed_.find(group);
    (found != changed_.end() && found->second->is_new() ? before : after).push_back(group);
  }
  before.insert(before.end(), after.begin(), after.end());
  return before;
}

void Container::flush_tables() {
  for (const ObjectId group : in_order_of_flush()) {
    if (table(group).size() == 0) continue;
    const auto version = table(group).flush(
        [&](const Meeting& meeting, Lost&) { return merge(group, meeting); }, lost_);
    note_stored(group, version);
    require_group(group);
  }
}

void Container::note_stored(ObjectId home, store::Version version) {
  for (const ObjectId id : std::exchange(saved_[home], {})) {
    const auto found = changed_.find(id);
    if (found == changed_.end()) continue;
    const Handle object = found->second;
    changed_.erase(found);
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
  return links_.at(group).merge(meeting, lost_);
}

// After the names that lead to them. Who is killed before leaves chunks that nothing leads to.
void Container::erase_chunks() {
  constexpr std::size_t kAtOnce = 1000;
  for (; !erased_.empty(); erased_.pop_back()) {
    const std::string prefix = prefix_of_chunks(name_, erased_.back());
    while (true) {
      std::vector<store::Change> changes;
      for (auto& [key, info] : store_.list(prefix, kAtOnce))
        if (key.starts_with(prefix))
          changes.push_back({std::move(key), std::nullopt, std::nullopt});
      if (changes.empty()) break;
      store_.put(changes);
    }
  }
}

// In rounds: what is written may have others to be written, counts that are lowered and objects
// that are erased when a link is gone.
void Container::write_all() {
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
  const auto is_closed = [&](const auto& entry) { return !open_.contains(entry.first); };
  std::erase_if(links_, is_closed);  // of those that had changes
  std::erase_if(tables_, is_closed);
  erase_chunks();
}

void Container::flush() {
  if (process_ != ::getpid()) return;  // what there is is the parent's
  write_all();
  if (lost_.empty()) return;
  const Error first = lost_.front();
  lost_.clear();
  throw Error(first);
}

void Container::refresh(const Handle& object) {
  if (process_ == ::getpid() && changed_.contains(object->place_.object)) write_all();
  if (object->is_new() || object->place_.home == 0) return;
  const auto [id, home] = object->place_;
  const auto entry = store_.find(table_of_group(name_, home), key_of_header(id));
  if (!entry) fail_gone(id, name_);
  object->header_ = object->stored_ = header_in(*entry);
  object->version_ = entry->version;
  if (const auto held = held_back_.find(id); held != held_back_.end())
    object->header_.links -= std::min(object->header_.links, held->second.links);
}

std::size_t Container::size() const {
  std::size_t bytes = 0;
  for (const auto& [group, table] : tables_) bytes += table.size();
  for (const auto& [id, object] : changed_) bytes += sizeof(Object) + object->header_.size();
  return bytes;
}

}  // namespace headrace::objects

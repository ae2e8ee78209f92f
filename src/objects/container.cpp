#include "objects/container.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>

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
    : store_(store), name_(std::move(name)), places_(store, table_of_places(name_)) {
  root();
}

PendingTable& Container::table(ObjectId group) {
  return tables_.try_emplace(group, store_, table_of_group(name_, group)).first->second;
}

Links& Container::links_of(const Object& group) {
  const ObjectId id = group.place_.object;
  return links_.try_emplace(id, table(id), group.header_.in_order).first->second;
}

std::uint32_t Container::lease() {
  while (lease_ == 0) {
    std::uint32_t random = 0;
    if (::getrandom(&random, sizeof random, 0) != sizeof random)
      throw Error("no random number", errno);
    random &= kMostLease;
    const store::Change change{in_order(random), store::Bytes{}, store::kAbsent};
    // The root has the first number of lease 0.
    if (random != 0 && !store_.commit(table_of_leases(name_), {&change, 1}).refused)
      lease_ = random;
  }
  return lease_;
}

Handle Container::held(Place place, Header header, store::Version version) {
  Handle object(new Object(place, std::move(header), version), [this](Object* last) {
    const auto found = open_.find(last->place_.object);
    if (found != open_.end() && found->second.expired()) open_.erase(found);
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
  const ObjectId id = (ObjectId{lease()} << kNumberBits) + ++made_;
  return held({id, 0}, std::move(header), store::kAbsent);
}

Header& Container::change(const Handle& object) {
  if (object->place_.home != 0) changed_[object->place_.object] = object;
  return object->header_;
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
  const ObjectId home = group.place_.object;
  if (links_of(group).find(name)) throw Error("name already exists: " + printable(name), EEXIST);
  const std::uint32_t maker = lease();
  if (object->place_.home == 0) {
    object->place_.home = home;
    new_places_.push_back(object->place_);
  }
  if (object->place_.home == home) {
    ++change(object).links;
  } else {
    if (object->is_new()) flush();
    raise_links(*object);
  }
  const auto [id, at] = object->place_;
  links_of(group).insert(name, {.utf8 = utf8, .object = id, .home = at}, maker);
}

void Container::link(const Object& group, const std::string& name, Link link) {
  links_of(group).insert(name, std::move(link), lease());
}

void Container::unlink(const Object& group, const std::string& name) {
  const auto link = links_of(group).find(name);
  links_of(group).erase(name);
  if (link->kind == Link::Kind::hard) drop_link(group, {link->object, link->home});
}

void Container::drop_link(const Object& group, Place place) {
  Handle object;
  try {
    object = open(place);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_found) throw;
    return;  // another has erased it
  }
  // The count is in another table than the link: it is lowered when the link is gone.
  if (place.home != group.place_.object && !object->is_new()) {
    auto& [held, links] = held_back_[place.object];
    held = object;
    ++links;
  }
  Header& header = change(object);
  if (header.links > 0) --header.links;
  if (header.links == 0) unlinked_[place.object] = object;
}

void Container::empty_group(const Object& group) {
  constexpr std::size_t kAtOnce = 1000;
  Links& links = links_of(group);
  while (true) {
    const auto part = links.by_name("", /*behind=*/false, kAtOnce);
    if (part.empty()) break;
    for (const auto& [name, link] : part) {
      links.erase(name);
      if (link.kind == Link::Kind::hard) drop_link(group, {link.object, link.home});
    }
  }
  table(group.place_.object).set(key_of_sums(), std::nullopt);
}

// Of those that the program has open it waits for the last handle.
void Container::erase_unlinked() {
  for (bool again = true; std::exchange(again, false);) {
    for (auto at = unlinked_.begin(); at != unlinked_.end();) {
      const auto [id, object] = *at;
      const long ours = 2 + static_cast<long>(changed_.contains(id));  // unlinked_, and here
      const bool stays = object->header_.links > 0;                    // it was linked again
      if (!stays && (held_back_.contains(id) || object.use_count() > ours)) {
        ++at;
        continue;
      }
      at = unlinked_.erase(at);
      if (stays) continue;
      changed_.erase(id);
      table(object->place_.home)
          .replace(key_of_header(id), std::nullopt,
                   object->is_new() ? std::nullopt : Value(encode(object->stored_)),
                   object->version_);
      if (object->header_.kind == Header::Kind::dataset) erased_.push_back(id);
      if (object->header_.kind != Header::Kind::group) continue;
      empty_group(*object);
      again = true;
      break;  // what it had may be in front
    }
  }
}

void Container::save_headers() {
  for (const auto& [id, object] : changed_) {
    Header header = object->header_;
    if (const auto held = held_back_.find(id); held != held_back_.end())
      header.links += held->second.links;
    const Value base = object->is_new() ? std::nullopt : Value(encode(object->stored_));
    table(object->place_.home).replace(key_of_header(id), encode(header), base, object->version_);
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
  Lost lost;  // nobody else has this lease
  places_.flush([](const Meeting& meeting, Lost&) { return meeting.mine; }, lost);
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

void Container::flush_tables(Lost& lost) {
  for (const ObjectId group : in_order_of_flush()) {
    const auto version = table(group).flush(
        [&](const Meeting& meeting, Lost& all) { return merge(group, meeting, all); }, lost);
    for (auto at = changed_.begin(); at != changed_.end();) {
      const auto [id, object] = *at;
      if (object->place_.home != group) {
        ++at;
        continue;
      }
      object->stored_ = object->header_;
      const auto held = held_back_.find(id);
      if (held != held_back_.end()) object->stored_.links += held->second.links;
      object->version_ = version;
      at = changed_.erase(at);
    }
  }
}

Value Container::merge_header(ObjectId object, const Meeting& meeting, Lost& lost) {
  const auto& [key, base, mine, theirs, version] = meeting;
  if (!theirs) {
    if (mine) lost.emplace_back("another has erased " + named(object), ErrorKind::conflict);
    return theirs;
  }
  const Header before = base ? decode_header(*base) : Header{};
  Header now = decode_header(*theirs);
  if (!mine) {  // another may have linked it
    now.links -= std::min(now.links, before.links);
    return now.links == 0 ? std::nullopt : Value(encode(now));
  }
  std::vector<std::string> words;
  now = objects::merge(before, decode_header(*mine), now, words);
  for (const std::string& what : words)
    lost.emplace_back("another has changed " + what + " of " + named(object) + ", too",
                      ErrorKind::conflict);
  const Handle open = changed_.at(object);
  open->header_ = now;
  if (const auto held = held_back_.find(object); held != held_back_.end())
    open->header_.links -= std::min(open->header_.links, held->second.links);
  return encode(now);
}

Value Container::merge(ObjectId group, const Meeting& meeting, Lost& lost) {
  if (meeting.key.starts_with(kHeader))
    return merge_header(number_in(std::string_view(meeting.key).substr(1)), meeting, lost);
  return links_.at(group).merge(meeting, lost);
}

// After the names that lead to them. Who is killed before leaves chunks that nothing leads to.
void Container::erase_chunks() {
  constexpr std::size_t kAtOnce = 1000;
  for (; !erased_.empty(); erased_.pop_back()) {
    const std::string prefix = prefix_of_chunks(name_, erased_.back());
    while (true) {
      std::vector<store::Change> changes;
      for (auto& [key, info] : store_.list(prefix, kAtOnce))
        if (key.starts_with(prefix)) changes.push_back({std::move(key), std::nullopt});
      if (changes.empty()) break;
      store_.put(changes);
    }
  }
}

void Container::flush() {
  Lost lost;
  while (true) {
    erase_unlinked();
    save_headers();
    save_places();
    flush_tables(lost);
    if (held_back_.empty()) break;
    for (const auto& [id, held] : std::exchange(held_back_, {})) changed_[id] = held.object;
  }
  links_.clear();
  tables_.clear();
  erase_chunks();
  if (!lost.empty()) throw Error(lost.front());
}

void Container::refresh(const Handle& object) {
  if (changed_.contains(object->place_.object)) flush();
  if (object->is_new()) return;
  const auto [id, home] = object->place_;
  const auto entry = store_.find(table_of_group(name_, home), key_of_header(id));
  if (!entry) fail_gone(id, name_);
  object->header_ = object->stored_ = header_in(*entry);
  object->version_ = entry->version;
}

std::size_t Container::size() const {
  std::size_t bytes = 0;
  for (const auto& [group, table] : tables_) bytes += table.size();
  for (const auto& [id, object] : changed_) bytes += sizeof(Object) + object->header_.size();
  return bytes;
}

}  // namespace headrace::objects

#include "objects/container.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/error.hpp"
#include "base/process/forks.hpp"
#include "base/report/printable.hpp"
#include "objects/keys.hpp"

namespace headrace::objects {
namespace {

[[noreturn]] void fail_gone(ObjectId object, const std::string& container) {
  throw Error(named(object) + " of container " + printable(container) + " does not exist",
              ErrorKind::not_found);
}

}  // namespace

void Container::make(store::Store& store, const std::string& name, Header root,
                     const std::string& stub) {
  root.links = 1;
  const std::string value = encode(root);
  std::vector<store::Change> changes{
      {key_of_header(kRoot.object), store::bytes_of(value), store::kAbsent}};
  if (!stub.empty()) changes.push_back({std::string(kStub), store::bytes_of(stub)});
  if (store.commit(table_of_group(name, kRoot.home), changes).refused)
    throw Error("container " + printable(name) + " exists", EEXIST);
}

void Container::note_stub(store::Store& store, const std::string& name, const std::string& path) {
  const std::string table = table_of_group(name, kRoot.home);
  const auto noted = store.find(table, kStub);
  if (noted && store::text_of(noted->value) == path) return;
  const store::Change change{std::string(kStub), store::bytes_of(path)};
  static_cast<void>(store.commit(table, {&change, 1}));
}

Container::Container(store::Store& store, std::string name)
    : store_(store),
      name_(std::move(name)),
      process_(forks()),
      places_(store, table_of_places(name_)) {
  root();
}

PendingTable& Container::table(ObjectId owner) {
  if (const auto found = tables_.find(owner); found != tables_.end()) return found->second;
  const auto open = open_.find(owner);
  const Handle made = open == open_.end() ? nullptr : open->second.lock();
  const bool is_new = made != nullptr && made->is_new();
  return tables_.try_emplace(owner, store_, table_of_group(name_, owner), is_new, &tables_bytes_)
      .first->second;
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

Entries& Container::entries_of(const Object& map) {
  const ObjectId id = map.place_.object;
  const auto found = entries_.find(id);
  if (found != entries_.end()) return found->second;
  return entries_.try_emplace(id, table(id), decode_key_form(map.header_.key_form), named(id))
      .first->second;
}

void Container::put(const Object& map, const std::string& key, const std::string& value) {
  require_own_process();
  entries_of(map).put(key, value);
}

bool Container::erase(const Object& map, const std::string& key) {
  require_own_process();
  return entries_of(map).erase(key);
}

void Container::require_own_process() const {
  if (process_ != forks())
    throw Error("container " + printable(name_) +
                    " was opened before a fork: this process may not change it",
                ErrorKind::unsupported);
}

std::uint32_t Container::lease() {
  if (made_ == kMostNumber) lease_ = 0;
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
  entries_.erase(object);
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
  return held(place, decode_header(store::text_of(entry->value)), entry->version);
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

ObjectId Container::new_id() {
  require_own_process();
  const std::uint32_t of = lease();
  return id_of(of, ++made_);
}

Handle Container::create(Header header) {
  const ObjectId id = new_id();
  unnamed_.insert(id);
  return held({id, 0}, std::move(header), store::kAbsent);
}

Header& Container::change(const Handle& object) {
  require_own_process();
  if (object->place_.home == 0) return object->header_;
  const ObjectId id = object->place_.object;
  changed_[id] = object;
  if (!std::exchange(object->is_touched_, true)) touched_.push_back(id);
  return object->header_;
}

// At once: a count that is too low would have the object erased while a link leads to it.
void Container::raise_links(Object& object) {
  const auto [id, home] = object.place_;
  while (true) {
    const auto entry = store_.find(table_of_group(name_, home), key_of_header(id));
    if (!entry) fail_gone(id, name_);
    Header header = decode_header(store::text_of(entry->value));
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

void Container::hold(const Handle& object) {
  require_own_process();
  if (object->place_.home == 0) return;
  if (object->is_new())
    ++change(object).links;
  else
    raise_links(*object);
}

void Container::release(const Handle& object) {
  require_own_process();
  if (object->place_.home != 0) drop_link(0, object);
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

void Container::flush() {
  if (process_ != forks()) return;  // what there is is the parent's
  write_all();
  if (lost_.empty()) return;
  const Error first = lost_.front();
  lost_.clear();
  throw Error(first);
}

void Container::refresh(const Handle& object) {
  if (process_ == forks() && changed_.contains(object->place_.object)) write_all();
  if (object->is_new() || object->place_.home == 0) return;
  const auto [id, home] = object->place_;
  const auto entry = store_.find(table_of_group(name_, home), key_of_header(id));
  if (!entry) fail_gone(id, name_);
  object->header_ = object->stored_ = decode_header(store::text_of(entry->value));
  object->version_ = entry->version;
  if (const auto held = held_back_.find(id); held != held_back_.end())
    object->header_.links -= std::min(object->header_.links, held->second.links);
}

void Container::take_cuts(const Handle& dataset) {
  if (dataset->is_new() || dataset->place_.home == 0) return;
  const auto [id, home] = dataset->place_;
  const auto entry = store_.find(table_of_group(name_, home), key_of_header(id));
  if (!entry || entry->version == dataset->version_) return;
  const Header theirs = decode_header(store::text_of(entry->value));
  if (theirs.epoch != dataset->stored_.epoch || theirs.cuts != dataset->stored_.cuts)
    refresh(dataset);
}

// Only what has changed since the last time is looked at.
std::size_t Container::size() {
  for (const ObjectId id : std::exchange(touched_, {})) {
    const auto found = changed_.find(id);
    if (found == changed_.end()) continue;
    Object& object = *found->second;
    const std::size_t now = sizeof(Object) + object.header_.size();
    headers_bytes_ += now - std::exchange(object.counted_, now);
    object.is_touched_ = false;
  }
  return tables_bytes_ + headers_bytes_;
}

Container::Changed::iterator Container::not_changed(Changed::iterator at) {
  Object& object = *at->second;
  headers_bytes_ -= std::exchange(object.counted_, 0);
  object.is_touched_ = false;
  return changed_.erase(at);
}

}  // namespace headrace::objects

// A container: groups, datasets, committed types and maps under a root group, in a store.
//
// One thread. What is changed is gathered in memory until flush(), and written then, each group's
// table as a whole. What others have flushed is seen in what is looked at first after that; an
// object that is open stays as it was, until refresh(). In a child after fork() nothing can be
// changed, and what its parent has gathered is its parent's. See docs/formats/container.md.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "objects/entries.hpp"
#include "objects/keys.hpp"
#include "objects/links.hpp"
#include "objects/object.hpp"
#include "objects/pending_table.hpp"
#include "store/store.hpp"

namespace headrace::objects {

// All functions throw Error.
class Container {
 public:
  // Makes one of that name, with its root group; Error (conflict) where there is one. `stub`: the
  // absolute path of its stub, where it has one.
  static void make(store::Store& store, const std::string& name, Header root,
                   const std::string& stub = {});
  // Its stub has that path now.
  static void note_stub(store::Store& store, const std::string& name, const std::string& path);
  // Erases one, which nobody may have open, with all that it has; none, too.
  static void remove(store::Store& store, const std::string& name);
  // Opens one; Error (not_found). `store` outlives the object, and the object its handles.
  Container(store::Store& store, std::string name);
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;
  ~Container() = default;

  [[nodiscard]] const std::string& name() const { return name_; }
  Handle root() { return open(kRoot); }
  // Error (not_found) where the object is gone.
  Handle open(Place place);
  Place place_of(ObjectId object);
  // Of an object, or of anything else: no number is used twice.
  ObjectId new_id();
  // It has no link yet, and is gone with its last handle as long as that is so.
  Handle create(Header header);
  // To be changed: it is written by the next flush.
  Header& change(const Handle& object);

  // Those of a group. Only to be looked at, while a handle of the group is open.
  const Links& links(const Object& group) { return links_of(group); }
  // One to an object.
  void link(const Object& group, const std::string& name, const Handle& object, bool utf8);
  // Another one.
  void link(const Object& group, const std::string& name, Link link);
  // An object goes with its last link and last handle, a group with all of its links.
  void unlink(const Object& group, const std::string& name);

  // Those of a map, as links() has those of a group.
  const Entries& entries(const Object& map) { return entries_of(map); }
  void put(const Object& map, const std::string& key, const std::string& value);
  // False where there is none.
  bool erase(const Object& map, const std::string& key);

  // References to an object that are no links, and are counted as if they were. Nothing of one that
  // has no link yet.
  void hold(const Handle& object);
  void release(const Handle& object);

  // Takes what others have written of it. What this program has changed is flushed before.
  void refresh(const Handle& object);

  // Of a dataset that another has shrunk since it was read or written: refreshes it.
  void take_cuts(const Handle& dataset);

  // `act` is called before links, headers and entries of maps are written, by flush() or by any
  // other function. It is to store what these refer to, as values in heaps.
  void before_writing(std::function<void()> act) { before_ = std::move(act); }
  // What could not be written is tried again by the next flush. Where others have made or changed
  // the same, theirs stands, all else is written, and that is thrown (conflict).
  void flush();
  // Of what is gathered, in bytes; takes the longer the more has changed since the last time.
  [[nodiscard]] std::size_t size();
  // Groups and maps whose tables are in memory: those that are open and were looked into, or have
  // changed.
  [[nodiscard]] std::size_t tables() const { return tables_.size(); }

 private:
  static constexpr Place kRoot{kRootId, kRootId};
  static constexpr ObjectId kPlaces = 0;  // stands for the table of places where tables are written
  using Changed = std::map<ObjectId, Handle>;
  // Links that are counted until their erasure is written.
  struct HeldBack {
    Handle object;
    std::uint64_t links = 0;
  };

  Changed::iterator not_changed(Changed::iterator at);
  PendingTable& table(ObjectId owner);
  Links& links_of(const Object& group);
  Entries& entries_of(const Object& map);
  void require_own_process() const;
  std::uint32_t lease();
  Handle held(Place place, Header header, store::Version version);
  void forget(ObjectId object) noexcept;

  [[nodiscard]] Header to_be_stored(const Object& object) const;
  void raise_links(Object& object);
  void drop_link(ObjectId group, const Handle& object);
  void undo(ObjectId group, const std::optional<Link>& base, const std::optional<Link>& mine);
  void adjust(ObjectId group, Place place, int links);

  void write_all();
  void drop_what_nothing_leads_to();
  void save_headers();
  void save_header(const Handle& object);
  void save_places();
  [[nodiscard]] std::vector<ObjectId> in_order_of_flush() const;
  PendingTable* to_be_written(ObjectId table);
  std::vector<Derived> counts_of(ObjectId table);
  void flush_tables();
  std::size_t flush_some(std::span<const ObjectId> tables);
  void note_written(ObjectId table, const store::Commit& made);
  void note_stored(ObjectId home, store::Version version);
  void require_group(ObjectId group);
  bool erase_unlinked();
  bool erase_header(Object& object);
  bool empty_erased();
  bool empty_group(Object& group, std::size_t& most);
  void empty_map(Object& map);
  void erase_chunks();
  Value merge(ObjectId group, const Meeting& meeting);
  Value merge_header(ObjectId object, const Meeting& meeting);

  store::Store& store_;
  std::string name_;
  unsigned process_;         // that may change it, as forks() says
  std::uint32_t lease_ = 0;  // of what this object makes; 0: it has made nothing yet
  std::uint64_t made_ = 0;   // objects of that lease
  std::function<void()> before_;
  // What the end of a handle needs comes before the handles.
  std::unordered_map<ObjectId, std::weak_ptr<Object>> open_;
  std::size_t tables_bytes_ = 0;             // of their changes
  std::map<ObjectId, PendingTable> tables_;  // by the group or map
  std::map<ObjectId, Links> links_;          // as well
  std::map<ObjectId, Entries> entries_;      // as well
  Changed changed_;
  std::size_t headers_bytes_ = 0;        // of those, as far as they were counted
  std::vector<ObjectId> touched_;        // of those that have changed since
  std::map<ObjectId, Handle> unlinked_;  // their headers are to go
  std::map<ObjectId, HeldBack> held_back_;
  std::vector<Handle> emptying_;                  // erased, but for their links and entries
  std::vector<ObjectId> erased_;                  // datasets whose chunks are to go
  std::map<ObjectId, ObjectId> linked_;           // objects that were linked, and the last group
  std::set<ObjectId> unnamed_;                    // objects that were made and not linked yet
  std::map<ObjectId, std::set<ObjectId>> saved_;  // objects whose headers are in that home's table
  PendingTable places_;
  std::vector<Place> new_places_;
  Lost lost_;
};

}  // namespace headrace::objects

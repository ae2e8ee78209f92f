// A container: groups, datasets and committed types under a root group, in a store.
//
// One thread. What is changed is gathered in memory until flush(), and written then, each group's
// table as a whole. What others have flushed is seen in what is looked at first after that; an
// object that is open stays as it was, until refresh(). See docs/formats/container.md.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "objects/links.hpp"
#include "objects/object.hpp"
#include "objects/pending_table.hpp"
#include "store/store.hpp"

namespace headrace::objects {

// All functions throw Error.
class Container {
 public:
  // Makes one of that name, with its root group; Error (conflict) where there is one.
  static void make(store::Store& store, const std::string& name, Header root);
  // Opens one; Error (not_found). `store` outlives the object, and the object its handles.
  Container(store::Store& store, std::string name);
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;

  Handle root() { return open(kRoot); }
  // Error (not_found) where the object is gone.
  Handle open(Place place);
  Place place_of(ObjectId object);
  // It has no link yet, and is gone with its last handle as long as that is so.
  Handle create(Header header);
  // To be changed: it is written by the next flush.
  Header& change(const Handle& object);

  // Those of a group. Only to be looked at.
  const Links& links(const Object& group) { return links_of(group); }
  // One to an object.
  void link(const Object& group, const std::string& name, const Handle& object, bool utf8);
  // Another one.
  void link(const Object& group, const std::string& name, Link link);
  // An object goes with its last link and last handle, a group with all of its links.
  void unlink(const Object& group, const std::string& name);

  // Takes what others have written of it. What this program has changed is flushed before.
  void refresh(const Handle& object);

  // What could not be written is tried again by the next flush. Where others have made or changed
  // the same, theirs stands, all else is written, and that is thrown (conflict).
  void flush();
  // Of what is gathered, in bytes.
  [[nodiscard]] std::size_t size() const;

 private:
  static constexpr Place kRoot{1, 1};
  // Links that are counted until their erasure is written.
  struct HeldBack {
    Handle object;
    std::uint64_t links = 0;
  };

  PendingTable& table(ObjectId group);
  Links& links_of(const Object& group);
  std::uint32_t lease();
  Handle held(Place place, Header header, store::Version version);
  void raise_links(Object& object);
  void drop_link(const Object& group, Place place);
  void empty_group(const Object& group);
  void erase_unlinked();
  void erase_chunks();
  void save_headers();
  void save_places();
  std::vector<ObjectId> in_order_of_flush() const;
  void flush_tables(Lost& lost);
  Value merge(ObjectId group, const Meeting& meeting, Lost& lost);
  Value merge_header(ObjectId object, const Meeting& meeting, Lost& lost);

  store::Store& store_;
  std::string name_;
  std::uint32_t lease_ = 0;  // of what this object makes; 0: it has made nothing yet
  std::uint64_t made_ = 0;   // objects
  std::unordered_map<ObjectId, std::weak_ptr<Object>> open_;
  std::map<ObjectId, Handle> changed_;
  std::map<ObjectId, Handle> unlinked_;  // their headers are to go
  std::map<ObjectId, HeldBack> held_back_;
  std::vector<ObjectId> erased_;             // datasets whose chunks are to go
  std::map<ObjectId, PendingTable> tables_;  // by the group
  std::map<ObjectId, Links> links_;
  PendingTable places_;
  std::vector<Place> new_places_;  // in the order of ids
};

}  // namespace headrace::objects

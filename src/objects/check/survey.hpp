// What the tables of a container say of its objects and links: some hundred bytes of memory for
// each object.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "objects/check/finding.hpp"
#include "objects/entries.hpp"
#include "objects/format/counted_block.hpp"
#include "objects/format/header.hpp"
#include "objects/format/link.hpp"
#include "objects/links.hpp"
#include "objects/object.hpp"
#include "store/store.hpp"

namespace headrace::objects {

struct HardLink {
  ObjectId object = 0;
  ObjectId home = 0;
  std::string name;
};

// An object that has a header.
struct Surveyed {
  ObjectId home = 0;
  bool is_readable = false;  // the header can be read, so that what follows is known
  Header::Kind kind = Header::Kind::group;
  bool in_order = false;
  bool kept = false;
  std::uint64_t links = 0;
  std::uint64_t epoch = 0;
  std::vector<std::uint64_t> dims;
  std::vector<std::uint64_t> chunk;
  std::vector<Cut> cuts;
  std::vector<ObjectId> types;  // the committed types of the object and its attributes

  // What reach() finds out.
  bool is_reached = false;       // the object lives
  std::uint64_t found = 0;       // links that lead to it, of living groups
  std::uint64_t references = 0;  // living objects and attributes of this committed type
  // The group and the name of the link by which it was reached first; null where that was no link.
  ObjectId parent = 0;
  const std::string* name = nullptr;
};

// What of a heap the values of a map refer to.
struct HeapUse {
  std::uint64_t end = 0;  // of the last of them in the heap
  std::string key;        // of the entry that has that one
};

// What the table of a group or map says of links or entries.
struct GroupTable {
  std::uint64_t links = 0;
  std::vector<HardLink> hard;
  std::uint64_t entries = 0;
  std::map<std::uint64_t, HeapUse> heaps;  // that values are in
  Value sums;                              // as the table has them
  std::uint64_t largest = 0;               // the largest stamp of a link, and 1; 0 without links
  std::vector<std::string> unordered;      // names of links that the order of creation lacks
  std::set<std::string> stale_orders;      // keys in that order whose links are gone
  // Counts of links by where they end, and how many there are.
  struct Counted {
    CountedBlock block;
    std::uint64_t found = 0;
  };
  std::map<std::string, Counted> counts;
};

// Objects whose ids are in a row, and whose headers are in the table of one group.
struct PlaceRange {
  ObjectId first = 0;
  ObjectId home = 0;
};

class Survey {
 public:
  // Reads a container; what cannot be read is told. Throws Error where the store cannot be read.
  Survey(store::Store& store, std::string container, Tell tell);

  [[nodiscard]] const std::string& container() const { return container_; }
  // The path of a living object; of one that no link leads to its number.
  [[nodiscard]] std::string path_of(ObjectId object) const;
  // Whether a path leads to the object, or a program has counted a reference to it, or a living
  // object is of this committed type.
  [[nodiscard]] bool is_living(ObjectId object) const;
  [[nodiscard]] bool is_living(ObjectId object, Header::Kind kind) const;
  // Whether any object lives whose id is one of these.
  [[nodiscard]] bool has_living(ObjectId first, ObjectId last) const;
  // Whether damage was told: then more objects may live than were found to.
  [[nodiscard]] bool is_uncertain() const { return is_uncertain_; }

  std::map<ObjectId, Surveyed> objects;
  std::map<ObjectId, GroupTable> groups;
  std::map<ObjectId, PlaceRange> places;  // by the last of them
  std::set<std::uint32_t> leases;

  void damage(std::string object, const std::string& key, std::string cause);
  void garbage(std::string object, const std::string& key, std::string cause) const;

 private:
  void read_table(const std::string& table);
  void read_group(ObjectId group, const std::string& table);
  void read_entry(ObjectId group, GroupTable& into, std::map<std::string, std::string>& orders,
                  const store::Entry& entry);
  void read_counts(ObjectId group, GroupTable& into, const std::string& table);
  void read_links(GroupTable& into, std::map<std::string, std::string>& orders,
                  const std::string& key, const std::string& value);
  void read_header(ObjectId home, const std::string& key, const std::string& value);
  void read_places(const std::string& table);
  void read_leases(const std::string& table);
  void note_early(ObjectId group, const std::string& key, const char* cause);
  void reach();
  void follow_all(std::vector<ObjectId>& left);
  void follow_links(ObjectId group, std::vector<ObjectId>& left);
  void follow_types(ObjectId object, std::vector<ObjectId>& left);

  store::Store& store_;
  std::string container_;
  Tell tell_;
  bool is_uncertain_ = false;
  // Damage that is told when the paths of objects are known.
  struct Early {
    ObjectId object = 0;
    std::string key;
    std::string cause;
  };
  std::vector<Early> early_;
};

}  // namespace headrace::objects

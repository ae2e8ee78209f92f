// All that a container's tables say, in memory: some hundred bytes for each object.
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
  bool is_readable = false;  // its header is, and what follows is known
  Header::Kind kind = Header::Kind::group;
  bool in_order = false;
  bool kept = false;
  std::uint64_t links = 0;
  std::uint64_t epoch = 0;
  std::vector<std::uint64_t> dims;
  std::vector<std::uint64_t> chunk;
  std::vector<Cut> cuts;
  std::vector<ObjectId> types;  // committed ones of it and its attributes

  // What leads to it; see reach().
  bool is_reached = false;
  std::uint64_t found = 0;       // links
  std::uint64_t references = 0;  // of what is of this type
  ObjectId parent = 0;           // of the link that led to it first
  const std::string* name = nullptr;
};

// What the table of a group or map says of links or entries.
struct GroupTable {
  std::uint64_t links = 0;
  std::vector<HardLink> hard;
  std::uint64_t entries = 0;
  Value sums;                          // as the table has them
  std::uint64_t largest = 0;           // stamp of a link and 1; 0 without links
  std::vector<std::string> unordered;  // links without an entry by their stamp
  std::set<std::string> stale_orders;  // keys of such entries without a link
  // Counts of links by where they end, and how many there are.
  struct Counted {
    CountedBlock block;
    std::uint64_t found = 0;
  };
  std::map<std::string, Counted> counts;
};

// Objects of ids in a row, by the last of them.
struct PlaceRange {
  ObjectId first = 0;
  ObjectId home = 0;
};

class Survey {
 public:
  // Reads a container; what cannot be read is told. Throws Error where the store cannot be read.
  Survey(store::Store& store, std::string container, Tell tell);

  [[nodiscard]] const std::string& container() const { return container_; }
  // Of a living object, or its number.
  [[nodiscard]] std::string path_of(ObjectId object) const;
  // An object that a path leads to, or that a program has kept.
  [[nodiscard]] bool is_living(ObjectId object) const;
  [[nodiscard]] bool is_living(ObjectId object, Header::Kind kind) const;
  // Whether an object lives whose number is one of these.
  [[nodiscard]] bool has_living(ObjectId first, ObjectId last) const;
  // Whether it may be that more lives than was found: something was told that is damage.
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
  void follow(ObjectId group, std::vector<ObjectId>& left);

  store::Store& store_;
  std::string container_;
  Tell tell_;
  bool is_uncertain_ = false;
  // What is told when paths are known.
  struct Early {
    ObjectId object = 0;
    std::string key;
    std::string cause;
  };
  std::vector<Early> early_;
};

// Calls `see` with all entries of a table.
template <typename See>
void each_entry(store::Store& store, const std::string& table, const See& see) {
  constexpr std::size_t kAtOnce = 1000;
  for (std::string from; true;) {
    const auto entries = store.scan(table, from, kAtOnce);
    for (const store::Entry& entry : entries) see(entry);
    if (entries.empty()) return;
    from = entries.back().key + '\0';
  }
}

}  // namespace headrace::objects

// Containers of tests, and all that can be reached in one.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "objects/container.hpp"
#include "objects/keys.hpp"
#include "store/memory/memory_store.hpp"

namespace headrace::objects {

inline constexpr std::size_t kAll = 100'000;

inline Header group_header() {
  Header header;
  header.in_order = true;
  return header;
}
inline Link soft_link(std::string target) {
  Link link;
  link.kind = Link::Kind::soft;
  link.target = std::move(target);
  return link;
}
inline Header dataset_header(std::string creation = {}) {
  Header header;
  header.kind = Header::Kind::dataset;
  header.creation = std::move(creation);
  header.dims = header.max_dims = {3};
  return header;
}
inline Header map_header() {
  Header header;
  header.kind = Header::Kind::map;
  header.key_form =
      encode(KeyForm{sizeof(char*), {{KeyField::Kind::text, false, 0, 0, sizeof(char*)}}});
  return header;
}
inline Attribute attribute(std::string name, std::string value) {
  Attribute made;
  made.name = std::move(name);
  made.value = std::move(value);
  return made;
}

class Containers : public testing::Test {
 protected:
  Containers() { Container::make(store_, "c", group_header()); }

  store::MemoryStore store_;
};

inline Handle add(Container& container, const Handle& group, const std::string& name,
                  Header header) {
  Handle object = container.create(std::move(header));
  container.link(*group, name, object, /*utf8=*/true);
  return object;
}

inline Handle at(Container& container, const Handle& group, const std::string& name) {
  const auto link = container.links(*group).find(name);
  if (!link) throw Error("no link " + name);
  return container.open({link->object, link->home});
}

// All that can be reached: of each object, in the order it is met, its links and header.
struct Tree {
  std::map<ObjectId, std::string> objects;
  std::map<ObjectId, std::uint64_t> links;
  std::vector<std::string> dangling;
};

inline Tree tree_of(Container& container) {
  Tree tree;
  std::vector<Handle> left{container.root()};
  tree.links[left.back()->place().object] = 1;
  while (!left.empty()) {
    const Handle object = left.back();
    left.pop_back();
    std::string& text = tree.objects[object->place().object];
    if (!text.empty()) continue;
    text = std::to_string(static_cast<int>(object->header().kind)) + object->header().creation;
    for (const Attribute& one : object->header().attributes)
      text += " @" + one.name + "=" + one.value;
    if (object->header().kind != Header::Kind::group) continue;
    const auto by_name = container.links(*object).by_name("", false, kAll);
    EXPECT_EQ(container.links(*object).count(), by_name.size());
    EXPECT_EQ(container.links(*object).by_order(nullptr, kAll).size(), by_name.size());
    for (const auto& [name, link] : by_name) {
      text += " " + name + "->" + std::to_string(link.object) + link.target;
      if (link.kind != Link::Kind::hard) continue;
      ++tree.links[link.object];
      try {
        left.push_back(container.open({link.object, link.home}));
        EXPECT_EQ(container.place_of(link.object), left.back()->place());
      } catch (const Error&) {
        tree.dangling.push_back(name);
      }
    }
  }
  return tree;
}

inline void expect_counts(Container& container, const Tree& tree) {
  for (const auto& [object, links] : tree.links)
    EXPECT_EQ(container.open(container.place_of(object))->header().links, links) << object;
}

// How many headers the store has.
inline std::size_t headers_in(store::Store& store, const Tree& tree) {
  std::size_t count = 0;
  for (const auto& [object, text] : tree.objects)
    for (const auto& entry : store.scan(table_of_group("c", object), "h", kAll))
      count += entry.key.starts_with(kHeader) ? 1 : 0;
  return count;
}

}  // namespace headrace::objects

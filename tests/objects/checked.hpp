// What a check finds in a container, and what a sweep leaves of it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "objects/check/check.hpp"
#include "objects/check/sweep.hpp"
#include "objects/committed_type.hpp"
#include "objects/format/stored_chunk.hpp"
#include "objects/heaps.hpp"
#include "objects/hindered_store.hpp"
#include "objects/tree.hpp"

namespace headrace::objects {

using Findings = std::vector<Finding>;

inline Findings findings_in(store::Store& store, Depth depth = Depth::all) {
  Findings found;
  check(store, "c", depth, [&](const Finding& finding) { found.push_back(finding); });
  return found;
}

inline std::string text_of(const Findings& findings) {
  std::string text;
  for (const Finding& one : findings)
    text += std::string(one.kind == Finding::Kind::damage ? "damage" : "garbage") + " " +
            one.object + " " + one.key + ": " + one.cause + "\n";
  return text;
}

inline bool has(const Findings& findings, Finding::Kind kind, const std::string& object,
                const std::string& cause) {
  return std::ranges::any_of(findings, [&](const Finding& one) {
    return one.kind == kind && one.object == object && one.cause.find(cause) != std::string::npos;
  });
}

inline Swept sweep_all(store::Store& store, bool erases = true) {
  return sweep(store, "c", erases, [](const Finding&) {});
}

inline void put_chunk(store::Store& store, ObjectId dataset, std::uint64_t at,
                      std::uint64_t epoch = 0) {
  const std::string bytes = "elements";
  const StoredChunk chunk{epoch, 0, store::bytes_of(bytes)};
  const std::string blob = encode_head(chunk) + bytes;
  const store::Change change{prefix_of_chunks("c", dataset) + in_order(at), store::bytes_of(blob)};
  store.put({&change, 1});
}

// What a program does: groups, links of all kinds, a committed type, deletions.
inline void work(store::Store& store) {
  Container container(store, "c");
  const Handle root = container.root();
  const Handle group = add(container, root, "g", group_header());
  Handle data = add(container, group, "d", dataset_header("list"));
  put_chunk(store, data->place().object, 0);
  container.link(*root, "again", data, true);
  Header type_header;
  type_header.kind = Header::Kind::datatype;
  type_header.type = "type";
  Handle type = add(container, root, "type", type_header);
  container.flush();
  Header typed = dataset_header();
  typed.type = with_reference(type->place().object, "type");
  add(container, group, "typed", typed);
  container.hold(type);
  container.link(*group, "soft", soft_link("/g/d"));
  container.link(*root, std::string(500, 'x'), soft_link("/long"));
  Heaps heaps(store, "c", [&] { return container.new_id(); });
  heaps.put(store::bytes_of("value"));
  heaps.flush();
  container.flush();
  Handle below = add(container, group, "below", group_header());
  container.link(*below, "d", data, true);
  add(container, below, "e", dataset_header());
  container.flush();
  container.link(*root, "moved", below, true);
  container.unlink(*group, "below");
  container.flush();
  below = data = type = nullptr;
  container.unlink(*root, "again");
  container.unlink(*group, "typed");
  container.unlink(*root, "moved");
  container.flush();
}

// Has `work` end at each of its writes to a store, as if it was killed: what is there then is whole
// but for garbage. Calls look(store, hindered, writes) each time.
template <typename Work, typename Look>
void kill_at_each_write(const Work& work, const Look& look) {
  bool is_over = false;
  for (unsigned writes = 0; !is_over; ++writes) {
    store::MemoryStore store;
    Container::make(store, "c", group_header());
    store::HinderedStore hindered(store);
    hindered.left = writes;
    is_over = error_of([&] { work(hindered); }) == nullptr;
    for (const Finding& one : findings_in(store))
      EXPECT_EQ(one.kind, Finding::Kind::garbage) << writes << text_of({one});
    look(store, hindered, writes);
  }
}

class Checked : public Containers {
 protected:
  // Of an entry that is there.
  void change_entry(const std::string& table, const std::string& key, std::string_view value) {
    ASSERT_TRUE(store_.find(table, key));
    const store::Change change{key, store::bytes_of(value)};
    static_cast<void>(store_.commit(table, {&change, 1}));
  }
  void erase_entry(const std::string& table, const std::string& key) {
    ASSERT_TRUE(store_.find(table, key));
    const store::Change change{key, std::nullopt};
    static_cast<void>(store_.commit(table, {&change, 1}));
  }
  Place place_at(const std::string& name) {
    Container container(store_, "c");
    return at(container, container.root(), name)->place();
  }
};

}  // namespace headrace::objects

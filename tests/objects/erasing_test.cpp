// What goes with a group or a map goes a part at a time, whatever its size, and to its end.
#include <gtest/gtest.h>

#include "objects/checked.hpp"

namespace headrace::objects {
namespace {

constexpr std::size_t kMany = 25'000;

class Erasing : public Checked {
 protected:
  store::HinderedStore counting_{store_};
};

TEST_F(Erasing, large_groups_and_maps_takes_little_memory) {
  {
    Container maker(store_, "c");
    const Handle map = add(maker, maker.root(), "m", map_header());
    const Handle group = add(maker, maker.root(), "g", group_header());
    const Handle data = add(maker, maker.root(), "d", dataset_header());
    for (std::size_t i = 0; i < kMany; ++i) {
      const std::string name = std::to_string(i);
      maker.put(*map, name, encode(MapValue{std::nullopt, name}));
      if (i % 5 == 0)
        add(maker, group, name, dataset_header());
      else
        maker.link(*group, name, soft_link("/nowhere"));
    }
    maker.link(*group, "last", data, true);
    maker.flush();
  }
  Container container(counting_, "c");
  container.unlink(*container.root(), "m");
  container.unlink(*container.root(), "g");
  container.flush();
  EXPECT_LT(counting_.largest, 2 * kMany);  // of each link some entries
  const Tree tree = tree_of(container);
  EXPECT_EQ(tree.objects.size(), 2U);
  expect_counts(container, tree);
  for (const Finding& one : findings_in(store_))
    EXPECT_EQ(one.cause, "the place of objects that are gone") << text_of({one});
  EXPECT_EQ(store_.tables("c/t/", "", kAll).size(), 1U);
}

// Some go with the names that lead to them, and some after these.
void make_and_erase(store::Store& store) {
  Container container(store, "c");
  const Handle root = container.root();
  Handle map = add(container, root, "m", map_header());
  for (int i = 0; i < 10; ++i) container.put(*map, std::to_string(i), encode(MapValue{}));
  Handle group = add(container, root, "g", group_header());
  add(container, group, "below", map_header());
  container.link(*group, "again", map, true);
  container.flush();
  map = group = nullptr;
  container.unlink(*root, "m");
  container.flush();
  container.put(*at(container, at(container, root, "g"), "again"), "more", encode(MapValue{}));
  container.flush();
  container.unlink(*root, "g");
  container.flush();
}

TEST(ErasingKills, leave_garbage_only) {
  kill_at_each_write(make_and_erase, [](store::Store& store,
                                        const store::HinderedStore& /*hindered*/, unsigned writes) {
    sweep_all(store);
    EXPECT_EQ(text_of(findings_in(store)), "") << writes;
  });
}

// A store that is full for a while.
TEST(ErasingKills, are_made_good_by_the_next_flush) {
  bool is_over = false;
  for (unsigned writes = 0; !is_over; ++writes) {
    store::MemoryStore store;
    Container::make(store, "c", group_header());
    store::HinderedStore hindered(store);
    Container container(hindered, "c");
    Handle map = add(container, container.root(), "m", map_header());
    for (int i = 0; i < 10; ++i) container.put(*map, std::to_string(i), encode(MapValue{}));
    container.flush();
    const std::string table = table_of_group("c", map->place().object);
    map = nullptr;
    container.unlink(*container.root(), "m");
    hindered.left = writes;
    is_over = error_of([&] { container.flush(); }) == nullptr;
    hindered.left = ~0U;
    container.flush();
    EXPECT_EQ(store.scan(table, "", kAll).size(), 0U) << writes;
  }
}

}  // namespace
}  // namespace headrace::objects

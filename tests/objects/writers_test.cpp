// Several writers of a container, and flushes that fail.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>

#include "objects/hindered_store.hpp"
#include "objects/tree.hpp"
#include "support/child.hpp"

namespace headrace::objects {
namespace {

class Writers : public Containers {
 protected:
  // What everybody sees: nothing dangles, and no count is too low.
  void expect_sound() {
    Container reader(store_, "c");
    const Tree tree = tree_of(reader);
    EXPECT_TRUE(tree.dangling.empty());
    for (const auto& [object, links] : tree.links)
      EXPECT_GE(reader.open(reader.place_of(object))->header().links, links) << object;
  }
  Handle there(Container& container, const std::string& name) {
    return at(container, container.root(), name);
  }
  // Who makes it forgets it at once.
  void add_data(const std::string& name) {
    Container maker(store_, "c");
    add(maker, maker.root(), name, dataset_header("data"));
    maker.flush();
  }
  void rename(Container& container, const std::string& from, const std::string& to) {
    const Handle object = there(container, from);
    container.link(*container.root(), to, object, true);
    container.unlink(*container.root(), from);
  }
};

TEST_F(Writers, one_erases_a_name_that_another_has_changed) {
  add_data("o");
  Container first(store_, "c");
  Container second(store_, "c");
  first.unlink(*first.root(), "o");
  rename(second, "o", "o2");
  second.flush();
  first.flush();
  expect_sound();
  Container reader(store_, "c");
  EXPECT_EQ(there(reader, "o2")->header().creation, "data");
}

TEST_F(Writers, both_give_another_name) {
  add_data("o");
  Container first(store_, "c");
  Container second(store_, "c");
  rename(first, "o", "a");
  rename(second, "o", "b");
  first.flush();
  second.flush();
  expect_sound();
  first.unlink(*first.root(), "a");
  first.flush();
  Container reader(store_, "c");
  EXPECT_EQ(there(reader, "b")->header().creation, "data");
}

TEST_F(Writers, both_erase_a_link_to_the_root) {
  Container first(store_, "c");
  const Handle group = add(first, first.root(), "g", group_header());
  first.link(*group, "r", first.root(), true);
  first.flush();
  Container second(store_, "c");
  first.unlink(*group, "r");
  second.unlink(*there(second, "g"), "r");
  second.flush();
  first.flush();
  first.link(*group, "r", first.root(), true);
  first.flush();
  first.unlink(*group, "r");
  first.flush();
  expect_sound();
}

TEST_F(Writers, one_links_what_another_erases) {
  {
    Container maker(store_, "c");
    const Handle group = add(maker, maker.root(), "g", group_header());
    add(maker, group, "precious", dataset_header("data"));
    maker.flush();
  }
  Container first(store_, "c");
  Container second(store_, "c");
  first.unlink(*first.root(), "g");
  second.link(*second.root(), "g2", there(second, "g"), true);
  second.flush();
  first.flush();
  expect_sound();
  Container reader(store_, "c");
  EXPECT_EQ(at(reader, there(reader, "g2"), "precious")->header().creation, "data");
}

TEST_F(Writers, one_links_what_another_has_erased) {
  add_data("o");
  Container first(store_, "c");
  Container second(store_, "c");
  second.link(*second.root(), "o2", there(second, "o"), true);
  first.unlink(*first.root(), "o");
  first.flush();
  EXPECT_THROW(second.flush(), Error);
  second.flush();
  expect_sound();
}

TEST_F(Writers, one_works_in_a_group_that_another_has_erased) {
  Container first(store_, "c");
  add(first, first.root(), "g", group_header());
  first.flush();
  Container second(store_, "c");
  const Handle group = there(second, "g");
  first.unlink(*first.root(), "g");
  first.flush();
  add(second, group, "result", dataset_header());
  EXPECT_THROW(second.flush(), Error);
  expect_sound();
}

TEST_F(Writers, a_conflict_is_told_though_the_flush_it_was_met_in_has_failed) {
  store::HinderedStore hindered(store_);
  Container first(hindered, "c");
  const Handle group = add(first, first.root(), "g", group_header());
  first.flush();
  first.link(*first.root(), "n", soft_link("mine"));
  add(first, group, "more", dataset_header());
  Container second(store_, "c");
  add(second, second.root(), "n", dataset_header("theirs"));
  second.flush();
  hindered.left = 3;  // where objects are, and the root's table: refused, and merged
  const auto kind_of_flush = [&] {
    try {
      first.flush();
      return ErrorKind::failed;
    } catch (const Error& error) {
      return error.kind();
    }
  };
  EXPECT_EQ(kind_of_flush(), ErrorKind::no_space);
  hindered.left = ~0U;
  EXPECT_EQ(kind_of_flush(), ErrorKind::conflict);
  first.flush();
  Container reader(store_, "c");
  EXPECT_EQ(there(reader, "n")->header().creation, "theirs");
  EXPECT_TRUE(at(reader, there(reader, "g"), "more"));
}

TEST_F(Writers, a_name_in_another_group_is_written_before_the_old_one_is_erased) {
  for (unsigned commits = 0; commits < 8; ++commits) {
    store::MemoryStore all;
    Container::make(all, "c", group_header());
    store::HinderedStore hindered(all);
    Container container(hindered, "c");
    for (const char* const name : {"g", "h"})
      add(container, container.root(), name, group_header());
    add(container, container.root(), "d", dataset_header("data"));
    container.flush();
    hindered.left = commits;
    const auto error = error_of([&] {
      const Handle data = at(container, container.root(), "d");
      container.link(*at(container, container.root(), "g"), "d", data, true);
      container.unlink(*container.root(), "d");
      container.flush();
    });
    Container reader(all, "c");
    unsigned names = 0;
    for (const Handle& group : {reader.root(), at(reader, reader.root(), "g")})
      names += reader.links(*group).find("d").has_value() ? 1 : 0;
    EXPECT_GE(names, 1U) << commits << (error == nullptr ? "" : " failed");
  }
}

TEST_F(Writers, a_child_changes_nothing_of_what_its_parent_has_open) {
  Container container(store_, "c");
  const Handle data = add(container, container.root(), "d", dataset_header());
  const test::Child child([&] {
    const bool refuses = error_of([&] { container.change(data); }) != nullptr &&
                         error_of([&] { container.create(dataset_header()); }) != nullptr &&
                         error_of([&] { container.unlink(*container.root(), "d"); }) != nullptr;
    container.flush();
    return refuses;
  });
  EXPECT_TRUE(child.ends_well());
  container.flush();
  expect_sound();
}

// Two that link, erase and change what both have made, each under names of its own.
class Pair {
 public:
  Pair(store::Store& store, unsigned seed)
      : random_(seed), stores_{Hindered(store), Hindered(store)} {
    for (std::size_t i = 0; i < 2; ++i)
      containers_.at(i) = std::make_unique<Container>(stores_.at(i), "c");
    Container maker(store, "c");
    Handle last = maker.root();
    for (int i = 0; i < 5; ++i)
      last = add(maker, random_() % 2 == 0 ? maker.root() : last, "g" + std::to_string(i),
                 group_header());
    maker.flush();
    for (const auto& [id, text] : tree_of(maker).objects) groups_.push_back(maker.place_of(id));
  }

  void work() {
    for (int i = 0; i < 150; ++i) step(random_() % 2);
    for (Hindered& one : stores_) one.left = ~0U;
    for (int i = 0; i < 3; ++i)
      for (const auto& container : containers_) flush(*container);
  }

 private:
  using Hindered = store::HinderedStore;

  // Conflicts and a full disk are what is looked for.
  static void flush(Container& container) {
    try {
      container.flush();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::conflict && error.kind() != ErrorKind::no_space) throw;
    }
  }

  Handle any(Container& container, const std::vector<Place>& places) {
    if (places.empty()) return nullptr;
    try {
      return container.open(places[random_() % places.size()]);
    } catch (const Error&) {
      return nullptr;  // the other has erased it, or has not flushed it yet
    }
  }

  void step(std::size_t which) {
    Container& container = *containers_.at(which);
    const Handle group = any(container, groups_);
    const std::string name = std::string(random_() % 4 == 0 ? 400 : 0, 'x') +
                             std::to_string(which) + " " + std::to_string(random_() % 8);
    const bool is_there = container.links(*group).find(name).has_value();
    const auto what = random_() % 8;
    if (what < 2 && !is_there) {
      made_.push_back(add(container, group, name, dataset_header())->place());
    } else if (what < 4 && !is_there) {
      if (const Handle object = any(container, made_)) link(container, *group, name, object);
    } else if (what < 5 && is_there) {
      container.unlink(*group, name);
    } else if (what == 5) {
      if (const Handle object = any(container, made_))
        container.change(object).comment = std::to_string(random_());
    } else if (what == 6) {
      stores_.at(which).left = random_() % 2 == 0 ? ~0U : random_() % 4;
      flush(container);
      stores_.at(which).left = ~0U;
    }
  }

  // Of an object that the other has erased meanwhile it fails.
  static void link(Container& container, const Object& group, const std::string& name,
                   const Handle& object) {
    try {
      container.link(group, name, object, true);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::not_found) throw;
    }
  }

  std::mt19937 random_;
  std::array<Hindered, 2> stores_;
  std::array<std::unique_ptr<Container>, 2> containers_;
  std::vector<Place> groups_;
  std::vector<Place> made_;
};

TEST_F(Writers, that_work_at_random_with_flushes_that_fail_leave_nothing_dangling) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    store::MemoryStore store;
    Container::make(store, "c", group_header());
    Pair(store, seed).work();
    Container reader(store, "c");
    const Tree tree = tree_of(reader);
    EXPECT_TRUE(tree.dangling.empty());
    for (const auto& [object, links] : tree.links)
      ASSERT_GE(reader.open(reader.place_of(object))->header().links, links) << object;
  }
}

}  // namespace
}  // namespace headrace::objects

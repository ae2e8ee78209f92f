#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "base/error.hpp"
#include "objects/hindered_store.hpp"
#include "objects/tree.hpp"

namespace headrace::objects {
namespace {

TEST_F(Containers, have_what_was_made_before_a_flush_and_when_opened_again) {
  Tree before;
  {
    Container container(store_, "c");
    const Handle group = add(container, container.root(), "g", group_header());
    const Handle data = add(container, group, "d", dataset_header("list"));
    container.change(data).attributes.push_back(attribute("a", "1"));
    container.link(*group, "soft", soft_link("/g/d"));
    container.link(*container.root(), "again", data, true);
    before = tree_of(container);
    EXPECT_EQ(before.objects.size(), 3U);
    container.flush();
    EXPECT_EQ(container.size(), 0U);
    EXPECT_EQ(tree_of(container).objects, before.objects);
  }
  Container container(store_, "c");
  const Tree after = tree_of(container);
  EXPECT_EQ(after.objects, before.objects);
  expect_counts(container, after);
  EXPECT_EQ(at(container, at(container, container.root(), "g"), "d"),
            at(container, container.root(), "again"));
}

TEST_F(Containers, are_made_once_and_opened_where_they_are) {
  EXPECT_THROW(Container::make(store_, "c", group_header()), Error);
  EXPECT_THROW(Container(store_, "d"), Error);
}

TEST_F(Containers, keep_nothing_of_groups_that_were_looked_at) {
  Container container(store_, "c");
  for (int i = 0; i < 2000; ++i) {
    const Handle group = add(container, container.root(), std::to_string(i), group_header());
    add(container, group, "d", dataset_header());
  }
  container.flush();
  const auto kept = [&] { return container.tables(); };
  EXPECT_LE(kept(), 1U);
  for (int i = 0; i < 2000; ++i) {
    const Handle group = at(container, container.root(), std::to_string(i));
    EXPECT_EQ(container.links(*group).count(), 1U);
  }
  EXPECT_LE(kept(), 1U);  // the root's
}

TEST_F(Containers, see_what_others_put_into_a_group_that_was_new_and_empty) {
  Container mine(store_, "c");
  const Handle group = add(mine, mine.root(), "g", group_header());
  EXPECT_EQ(mine.links(*group).count(), 0U);
  mine.flush();
  Container theirs(store_, "c");
  add(theirs, at(theirs, theirs.root(), "g"), "d", dataset_header());
  theirs.flush();
  EXPECT_TRUE(mine.links(*group).find("d"));
}

TEST_F(Containers, forget_what_was_never_linked) {
  Container container(store_, "c");
  const ObjectId id = container.create(dataset_header())->place().object;
  EXPECT_THROW(container.place_of(id), Error);
  Handle kept = container.create(dataset_header());
  container.flush();
  container.change(kept).comment = "later";
  container.link(*container.root(), "d", kept, true);
  container.flush();
  EXPECT_EQ(at(container, container.root(), "d")->header().comment, "later");
}

TEST_F(Containers, give_numbers_that_no_object_has) {
  Container container(store_, "c");
  EXPECT_EQ(container.name(), "c");
  const ObjectId number = container.new_id();
  const ObjectId before = add(container, container.root(), "d", dataset_header())->place().object;
  EXPECT_GT(before, number);
  EXPECT_GT(container.new_id(), before);
  EXPECT_NE(Container(store_, "c").new_id() >> 36U, number >> 36U);
}

TEST_F(Containers, keep_an_object_without_links_as_long_as_it_is_open) {
  Container container(store_, "c");
  Handle data = add(container, container.root(), "d", dataset_header());
  const Place place = data->place();
  for (int i = 0; i < 2; ++i) {
    container.flush();
    if (i == 0) container.unlink(*container.root(), "d");
    EXPECT_EQ(container.open(place), data);
  }
  EXPECT_EQ(data->header().links, 0U);
  data.reset();
  container.flush();
  EXPECT_THROW(container.open(place), Error);
  EXPECT_EQ(headers_in(store_, tree_of(container)), 1U);
}

TEST_F(Containers, erase_a_group_with_all_that_only_it_leads_to) {
  Container container(store_, "c");
  {
    const Handle group = add(container, container.root(), "g", group_header());
    const Handle inner = add(container, group, "inner", group_header());
    const Handle kept = add(container, inner, "kept", dataset_header("kept"));
    add(container, inner, "lost", dataset_header());
    container.link(*container.root(), "kept", kept, true);
    container.link(*inner, "ring", group, true);
  }
  container.flush();
  container.unlink(*container.root(), "g");
  container.flush();
  // A ring of links keeps a group, as in a file.
  EXPECT_EQ(tree_of(container).objects.size(), 2U);
  Container again(store_, "c");
  EXPECT_EQ(at(again, again.root(), "kept")->header().creation, "kept");
  EXPECT_EQ(at(again, again.root(), "kept")->header().links, 2U);
}

TEST_F(Containers, erase_the_chunks_of_a_dataset_with_it) {
  Container container(store_, "c");
  std::vector<ObjectId> ids;
  for (const char* const name : {"a", "b", "c"})
    ids.push_back(add(container, container.root(), name, dataset_header())->place().object);
  container.flush();
  for (const ObjectId id : ids)
    for (std::uint64_t chunk = 0; chunk < 2500; ++chunk) {
      const store::Change blob{prefix_of_chunks("c", id) + in_order(chunk),
                               store::bytes_of("chunk")};
      store_.put({&blob, 1});
    }
  container.unlink(*container.root(), "b");
  EXPECT_EQ(store_.list("", kAll).size(), 7500U);
  container.flush();
  EXPECT_EQ(store_.list("", kAll).size(), 5000U);
  EXPECT_EQ(store_.list(prefix_of_chunks("c", ids[0]), 2500).size(), 2500U);
  EXPECT_FALSE(store_.list(prefix_of_chunks("c", ids[2]), 1).empty());
}

TEST_F(Containers, merge_what_two_writers_change_of_one_object) {
  Container first(store_, "c");
  const Handle mine = add(first, first.root(), "d", dataset_header());
  first.change(mine).attributes = {attribute("all", "0"), attribute("both", "0")};
  first.flush();
  Container second(store_, "c");
  const Handle theirs = at(second, second.root(), "d");
  first.change(mine).attributes = {attribute("all", "0"), attribute("both", "1"),
                                   attribute("first", "1")};
  second.change(theirs).attributes = {attribute("both", "2"), attribute("second", "2")};
  second.change(theirs).dims = {9};
  second.link(*second.root(), "another name", theirs, true);
  first.flush();
  try {
    second.flush();
    ADD_FAILURE() << "both have changed an attribute";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::conflict);
    EXPECT_NE(std::string(error.what()).find("attribute both"), std::string::npos);
  }
  second.flush();
  first.refresh(mine);
  for (const Handle& object : {mine, theirs}) {
    const Header& header = object->header();
    ASSERT_EQ(header.attributes.size(), 3U);
    EXPECT_EQ(header.find("both")->value, "1");
    EXPECT_EQ(header.find("first")->value, "1");
    EXPECT_EQ(header.find("second")->value, "2");
    EXPECT_EQ(header.dims, std::vector<std::uint64_t>{9});
    EXPECT_EQ(header.links, 2U);
  }
}

TEST_F(Containers, say_that_another_has_erased_what_is_changed) {
  Container first(store_, "c");
  const Handle mine = add(first, first.root(), "d", dataset_header());
  first.flush();
  Container second(store_, "c");
  second.unlink(*second.root(), "d");
  second.flush();
  first.change(mine).comment = "changed";
  EXPECT_THROW(first.flush(), Error);
  first.flush();
  EXPECT_THROW(first.refresh(mine), Error);
}

// What a program does. Without links to what has one it has no flush of its own.
void change_at_random(Container& container, std::mt19937& random, const std::string& prefix,
                      bool links_again = true) {
  std::vector<Handle> groups{container.root()};
  std::vector<Handle> all;
  for (std::size_t i = 0; i < groups.size() && i < 50; ++i)
    for (const auto& [name, link] : container.links(*groups[i]).by_name("", false, kAll)) {
      if (link.kind != Link::Kind::hard) continue;
      all.push_back(container.open({link.object, link.home}));
      if (all.back()->header().kind == Header::Kind::group) groups.push_back(all.back());
    }
  const Handle group = groups[random() % groups.size()];
  const std::string name = prefix + std::to_string(random() % 12);
  const bool is_there = container.links(*group).find(name).has_value();
  const auto what = random() % 8;
  if (is_there && what < 5)
    container.unlink(*group, name);
  else if (is_there)
    return;
  else if (what < 3)
    add(container, group, name, group_header());
  else if (what < 5)
    add(container, group, name, dataset_header(std::to_string(random())));
  else if (what == 5 && links_again && !all.empty())
    container.link(*group, name, all[random() % all.size()], true);
  else if (what == 6)
    container.link(*group, name, soft_link(name));
  else if (!all.empty())
    container.change(all[random() % all.size()]).comment = std::to_string(random());
}

TEST_F(Containers, after_random_changes_are_as_they_were_before_the_flush) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    std::mt19937 random(seed);
    const std::string prefix = std::to_string(seed) + " ";
    for (int turn = 0; turn < 5; ++turn) {
      Container container(store_, "c");
      for (int i = 0; i < 40; ++i) {
        change_at_random(container, random, prefix);
        if (random() % 10 == 0) container.flush();
      }
      const Tree before = tree_of(container);
      container.flush();
      Container again(store_, "c");
      const Tree after = tree_of(again);
      ASSERT_EQ(after.objects, before.objects) << seed;
      EXPECT_TRUE(after.dangling.empty());
      for (const auto& [object, links] : after.links)
        EXPECT_GE(again.open(again.place_of(object))->header().links, links) << object;
    }
  }
}

// A store that fails, or a process that ends, after so many commits of a flush.
TEST_F(Containers, that_are_flushed_in_part_lead_to_whole_objects) {
  for (unsigned commits = 0; commits < 40; ++commits) {
    SCOPED_TRACE(commits);
    store::MemoryStore all;
    Container::make(all, "c", group_header());
    store::HinderedStore store(all);
    std::mt19937 random(commits / 4);
    Container container(store, "c");
    for (int i = 0; i < 60; ++i) change_at_random(container, random, "");
    container.flush();
    const Tree before = tree_of(container);
    for (int i = 0; i < 30; ++i) change_at_random(container, random, "", commits % 2 == 0);
    const Tree expected = tree_of(container);
    store.left = commits % 10;
    bool failed = false;
    try {
      container.flush();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::no_space);
      failed = true;
    }
    {
      Container another(all, "c");
      const Tree tree = tree_of(another);
      EXPECT_TRUE(tree.dangling.empty());
      for (const auto& [object, links] : tree.links)
        EXPECT_GE(another.open(another.place_of(object))->header().links, links) << object;
      for (const auto& [object, text] : tree.objects) {  // what is new is there as a whole
        if (commits % 2 == 1 && !before.objects.contains(object)) {
          EXPECT_EQ(text, expected.objects.at(object));
        }
      }
    }
    store.left = ~0U;
    container.flush();
    EXPECT_EQ(tree_of(container).objects, expected.objects) << failed;
    Container again(all, "c");
    EXPECT_EQ(tree_of(again).objects, expected.objects) << failed;
  }
}

}  // namespace
}  // namespace headrace::objects

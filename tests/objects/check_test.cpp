// Damage is told, what killed writers leave is garbage, and what is swept is no more than that.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "base/error.hpp"
#include "objects/check/containers.hpp"
#include "objects/checked.hpp"
#include "support/present.hpp"

namespace headrace::objects {
namespace {

TEST_F(Checked, what_is_whole_is_clean) {
  work(store_);
  const Findings found = findings_in(store_);
  // The type is not told that what was of it is gone, nor are places of what is gone erased.
  EXPECT_TRUE(has(found, Finding::Kind::garbage, "/type", "links are counted")) << text_of(found);
  EXPECT_TRUE(has(found, Finding::Kind::garbage, "", "the place of")) << text_of(found);
  EXPECT_EQ(found.size(), 4U) << text_of(found);
  Container container(store_, "c");
  const Tree before = tree_of(container);
  EXPECT_EQ(sweep_all(store_, false).entries, 4U);
  EXPECT_EQ(sweep_all(store_).entries, 4U);
  EXPECT_EQ(text_of(findings_in(store_)), "");
  EXPECT_EQ(sweep_all(store_).entries, 0U);
  Container after(store_, "c");
  EXPECT_EQ(tree_of(after).objects, before.objects);
}

// A writer that is killed at each of its writes, and whoever sweeps, too.
TEST(CheckedKills, leave_garbage_only_and_sweeping_leaves_all_else) {
  kill_at_each_write(work,
                     [](store::Store& store, store::HinderedStore& hindered, unsigned writes) {
                       Tree before;
                       {
                         Container container(store, "c");
                         before = tree_of(container);
                         EXPECT_EQ(before.dangling, std::vector<std::string>{});
                       }
                       hindered.left = writes % 3;
                       static_cast<void>(error_of([&] { sweep_all(hindered); }));
                       sweep_all(store);
                       EXPECT_EQ(text_of(findings_in(store)), "") << writes;
                       Container container(store, "c");
                       EXPECT_EQ(tree_of(container).objects, before.objects) << writes;
                     });
}

TEST_F(Checked, what_a_program_counts_references_to_is_kept) {
  ObjectId kept = 0;
  {
    Container container(store_, "c");
    const Handle object = add(container, container.root(), "d", dataset_header());
    kept = object->place().object;
    container.change(object).kept = true;
    container.hold(object);
    container.unlink(*container.root(), "d");
    container.flush();
    put_chunk(store_, kept, 0);
  }
  EXPECT_EQ(text_of(findings_in(store_)), "");
  sweep_all(store_);
  Container container(store_, "c");
  const Handle object = container.open(container.place_of(kept));
  EXPECT_EQ(object->header().links, 1U);
  EXPECT_EQ(store_.list("c/d/", 10).size(), 1U);
  container.release(object);
}

TEST_F(Checked, chunks_that_nothing_reads_are_garbage) {
  {
    Container container(store_, "c");
    const Handle data = add(container, container.root(), "d", dataset_header());
    container.flush();
    for (const std::uint64_t at : {0, 2, 3, 9}) put_chunk(store_, data->place().object, at);
    put_chunk(store_, 77, 0);
  }
  const Findings found = findings_in(store_);
  EXPECT_EQ(found.size(), 3U) << text_of(found);
  EXPECT_TRUE(has(found, Finding::Kind::garbage, "/d", "beyond the extent"));
  EXPECT_TRUE(has(found, Finding::Kind::garbage, "(object 77)", "dataset that is gone"));
  EXPECT_EQ(sweep_all(store_).chunks, 3U);
  EXPECT_EQ(store_.list("c/d/", 10).size(), 2U);
  EXPECT_EQ(text_of(findings_in(store_)), "");
}

// Of chunks of 4 elements of a dataset that had 40, then 10, then 30.
TEST_F(Checked, chunks_that_were_cut_off_are_garbage_where_it_is_known_how_long_they_are) {
  for (const bool is_known : {true, false}) {
    Container::remove(store_, "c");
    Container::make(store_, "c", group_header());
    Header header = dataset_header();
    header.dims = header.max_dims = {40};
    if (is_known) header.chunk = {4};
    cut(header, {10});
    cut(header, {30});
    Container container(store_, "c");
    const Handle data = add(container, container.root(), "d", header);
    container.flush();
    for (const std::uint64_t at : {0, 2, 3, 7, 9}) put_chunk(store_, data->place().object, at, 0);
    for (const std::uint64_t at : {5, 8, 35}) put_chunk(store_, data->place().object, at, 1);
    EXPECT_EQ(sweep_all(store_).chunks, is_known ? 5U : 1U);
    std::vector<std::uint64_t> left;
    for (const auto& blob : store_.list("c/d/", 100))
      left.push_back(number_in(std::string_view(blob.key).substr(12)));
    const std::vector<std::uint64_t> all{0, 2, 3, 5, 7, 8, 9};
    EXPECT_EQ(left, is_known ? (std::vector<std::uint64_t>{0, 2, 5}) : all);
    EXPECT_EQ(text_of(findings_in(store_)), "");
  }
}

TEST_F(Checked, damage_is_told_by_object_and_key_and_nothing_is_swept_then) {
  work(store_);
  const Place group = place_at("g");
  const std::string root = table_of_group("c", 1);
  erase_entry(root, key_of_header(group.object));
  const Findings found = findings_in(store_);
  EXPECT_TRUE(has(found, Finding::Kind::damage, "/g", "has no header")) << text_of(found);
  EXPECT_EQ(sweep_all(store_).entries, 0U);
}

TEST_F(Checked, each_kind_of_damage_is_told) {
  const std::string root = table_of_group("c", 1);
  const auto damage = [&](const std::function<void()>& harm, const std::string& object,
                          const std::string& cause) {
    Container::remove(store_, "c");
    Container::make(store_, "c", group_header(), "/path/of/stub");
    work(store_);
    harm();
    const Findings found = findings_in(store_);
    EXPECT_TRUE(has(found, Finding::Kind::damage, object, cause)) << cause << "\n"
                                                                  << text_of(found);
  };
  damage([&] { change_entry(root, "ng", "x"); }, "/", "damaged");
  damage([&] { change_entry(root, std::string(kSums), "\x09\x7f"); }, "/", "links are counted");
  damage([&] { change_entry(root, std::string(kSums), "\x03\x01"); }, "/", "stamp");
  damage([&] { change_entry(root, key_of_header(1), "x"); }, "/", "damaged");
  damage([&] { change_entry(root, key_of_header(place_at("g").object), "y"); }, "/g", "damaged");
  damage([&] { erase_entry(table_of_leases("c"), store_.scan("c/leases", "", 1)[0].key); }, "/g",
         "lease");
  damage([&] { erase_entry(table_of_places("c"), store_.scan("c/places", "", 1)[0].key); }, "/g",
         "references to it");
  damage([&] { change_entry(table_of_places("c"), store_.scan("c/places", "", 1)[0].key, "x"); },
         "", "no place");
  damage([&] { erase_entry(root, store_.scan(root, "o", 1)[0].key); }, "/", "order of creation");
  damage(
      [&] {
        static_cast<void>(
            store_.commit(root, std::vector<store::Change>{{"q", store::bytes_of("")}}));
      },
      "/", "no kind");
  damage(
      [&] {
        static_cast<void>(
            store_.commit("c/z", std::vector<store::Change>{{"q", store::bytes_of("")}}));
      },
      "", "table of no kind");
  damage(
      [&] {
        const Place group = place_at("g");
        Header header = decode_header(
            store::text_of(test::present(store_.find(root, key_of_header(group.object))).value));
        header.links = 0;
        change_entry(root, key_of_header(group.object), encode(header));
      },
      "/g", "0 links are counted");
  const auto blob = [&](const std::string& key, std::string_view value) {
    const store::Change change{key, store::bytes_of(value)};
    store_.put({&change, 1});
  };
  damage([&] { blob("c/x", "1"); }, "", "no kind");
  damage([&] { blob(key_of_heap("c", 5), "1"); }, "", "heap is damaged");
  damage([&] { blob(store_.list("c/d/", 1)[0].key, "1"); }, "/g/d", "version");
  damage([&] { put_chunk(store_, number_in(store_.list("c/d/", 1)[0].key.substr(4, 8)), 0, 7); },
         "/g/d", "later epoch");
  damage([&] { blob(store_.list("c/d/", 1)[0].key + in_order(ObjectId{1}), "1"); }, "/g/d", "rank");
}

// A changed byte may be a name, say, which nobody can tell from another.
TEST_F(Checked, no_changed_byte_ends_the_program) {
  work(store_);
  sweep_all(store_);
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    const auto tables = store_.tables("c/", "", 100);
    const std::string& table = tables[random() % tables.size()];
    const auto entries = store_.scan(table, "", kAll);
    const store::Entry& entry = entries[random() % entries.size()];
    std::string value(store::text_of(entry.value));
    if (value.empty()) continue;
    char& changed = value[random() % value.size()];
    changed = static_cast<char>(static_cast<unsigned char>(changed) ^ (1U << random() % 8));
    if (random() % 4 == 0) value.resize(random() % value.size());
    change_entry(table, entry.key, value);
    const bool is_header = entry.key.starts_with(kHeader) && table.find("/t/") != std::string::npos;
    const Findings found = findings_in(store_, Depth::ends);
    EXPECT_TRUE(!is_header || !found.empty()) << i;
    sweep_all(store_, false);
    change_entry(table, entry.key, store::text_of(entry.value));
  }
  EXPECT_EQ(text_of(findings_in(store_)), "");
}

TEST_F(Checked, containers_are_listed_with_what_is_left_of_others) {
  work(store_);
  Container::make(store_, "other", group_header(), "/stub");
  const store::Change blob{"left/v/12345678", store::bytes_of("1")};
  store_.put({&blob, 1});
  EXPECT_EQ(containers_in(store_), (std::vector<std::string>{"c", "left", "other"}));
  EXPECT_TRUE(is_container(store_, "other"));
  EXPECT_FALSE(is_container(store_, "left"));
  EXPECT_EQ(noted_stub(store_, "other"), "/stub");
  Container::note_stub(store_, "other", "/moved");
  EXPECT_EQ(noted_stub(store_, "other"), "/moved");
  for (const char* name : {"c", "other", "left"}) Container::remove(store_, name);
  EXPECT_EQ(containers_in(store_), std::vector<std::string>{});
}

}  // namespace
}  // namespace headrace::objects

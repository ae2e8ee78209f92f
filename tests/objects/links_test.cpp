#include "objects/links.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <random>
#include <ranges>

#include "base/error.hpp"
#include "store/memory/memory_store.hpp"
#include "support/present.hpp"

namespace headrace::objects {
namespace {

using test::present;

constexpr std::size_t kAll = 100'000;

// A program that has a group open.
struct Writer {
  Writer(store::Store& store, std::uint32_t its_lease) : table(store, "group"), lease(its_lease) {}

  void insert(const std::string& name, ObjectId object = 7) {
    Link link;
    link.object = object;
    link.home = 1;
    links.insert(name, link, lease);
  }
  // What is lost.
  std::vector<std::string> flush() {
    std::vector<std::string> lost;
    Lost all;
    table.flush([&](const Meeting& met, Lost& to) { return links.merge(met, to); }, all,
                [&] { return links.count_changes(); });
    for (const Error& error : all) {
      EXPECT_EQ(error.kind(), ErrorKind::conflict);
      lost.emplace_back(error.what());
    }
    return lost;
  }
  [[nodiscard]] std::vector<std::string> names() const {
    return names_of(links.by_name("", false, kAll));
  }
  [[nodiscard]] std::vector<std::string> in_order() const {
    return names_of(links.by_order(nullptr, kAll));
  }
  static std::vector<std::string> names_of(const std::vector<NamedLink>& links) {
    std::vector<std::string> names;
    names.reserve(links.size());
    for (const auto& [name, link] : links) names.push_back(name);
    return names;
  }

  PendingTable table;
  Links links{table, /*in_order=*/true};
  std::uint32_t lease;
};

using Names = std::vector<std::string>;

TEST(Links, are_what_was_inserted_before_a_flush_and_after_it) {
  store::MemoryStore store;
  Writer writer(store, 1);
  for (const std::string name : {"b", "a", "", "ü\n"}) {
    if (name.empty()) continue;
    writer.insert(name);
  }
  Link soft;
  soft.kind = Link::Kind::soft;
  soft.target = "/a";
  writer.links.insert("soft", soft, 1);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(writer.names(), (Names{"a", "b", "soft", "ü\n"}));
    EXPECT_EQ(writer.in_order(), (Names{"b", "a", "ü\n", "soft"}));
    EXPECT_EQ(present(writer.links.find("soft")).target, "/a");
    EXPECT_EQ(present(writer.links.find("a")).object, 7U);
    EXPECT_FALSE(writer.links.find("c"));
    EXPECT_EQ(writer.links.count(), 4U);
    EXPECT_EQ(writer.flush(), Names());
  }
  EXPECT_EQ(writer.table.size(), 0U);
  EXPECT_EQ(Writer(store, 2).names(), writer.names());
  try {
    writer.insert("a");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.error_number(), EEXIST);
  }
  try {
    writer.links.erase("c");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::not_found);
  }
}

TEST(Links, with_long_names_are_told_apart) {
  store::MemoryStore store;
  Writer writer(store, 1);
  const std::string alike(500, 'x');
  const Names names{alike.substr(0, 383), alike.substr(0, 384), alike, alike + "a", alike + "b"};
  for (const std::string& name : names | std::views::reverse) writer.insert(name);
  EXPECT_EQ(writer.flush(), Names());
  EXPECT_EQ(writer.names(), names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(Writer::names_of(writer.links.by_name(names[i], false, 2)),
              Names(names.begin() + i, names.begin() + std::min(i + 2, names.size())));
    EXPECT_EQ(Writer::names_of(writer.links.by_name(names[i], true, kAll)),
              Names(names.begin() + i + 1, names.end()));
  }
  writer.links.erase(alike);
  EXPECT_FALSE(writer.links.find(alike));
  EXPECT_TRUE(writer.links.find(alike + "a"));
  EXPECT_EQ(writer.links.count(), 4U);
}

TEST(Links, of_two_writers_are_all_there) {
  store::MemoryStore store;
  Writer first(store, 1);
  Writer second(store, 2);
  const std::string alike(400, 'x');
  for (int i = 0; i < 100; ++i) {
    first.insert("first " + std::to_string(i));
    second.insert("second " + std::to_string(i));
    first.insert(alike + "1 " + std::to_string(i));
    second.insert(alike + "2 " + std::to_string(i));
    if (i % 3 == 0) {
      EXPECT_EQ(first.flush(), Names());
    }
    if (i % 5 == 0) {
      EXPECT_EQ(second.flush(), Names());
    }
  }
  EXPECT_EQ(first.flush(), Names());
  EXPECT_EQ(second.flush(), Names());
  const Writer reader(store, 3);
  EXPECT_EQ(reader.links.count(), 400U);
  EXPECT_EQ(reader.names().size(), 400U);
  auto in_order = reader.in_order();
  std::ranges::sort(in_order);
  EXPECT_EQ(in_order, reader.names());
}

TEST(Links, that_two_writers_make_are_an_error_of_the_second_flush) {
  store::MemoryStore store;
  Writer first(store, 1);
  Writer second(store, 2);
  const std::string alike(400, 'x');
  for (const std::string& name : {std::string("both"), alike + "both"}) {
    first.insert(name, 10);
    second.insert(name, 20);
  }
  second.insert("another");
  second.insert(alike + "another");
  EXPECT_EQ(first.flush(), Names());
  const Names lost = second.flush();
  ASSERT_EQ(lost.size(), 2U);
  EXPECT_NE(lost[0].find("both"), std::string::npos);
  EXPECT_NE(lost[1].find("both"), std::string::npos);
  EXPECT_EQ(second.flush(), Names());
  for (const Writer* const one : {&first, &second}) {
    EXPECT_EQ(one->names(), (Names{"another", "both", alike + "another", alike + "both"}));
    EXPECT_EQ(present(one->links.find("both")).object, 10U);
    EXPECT_EQ(one->links.count(), 4U);
    EXPECT_EQ(one->in_order().size(), 4U);
  }
  EXPECT_EQ(first.table.scan("o", kAll).size(), 4U + 1U);  // and the sums
}

TEST(Links, that_two_writers_erase_are_erased_once) {
  store::MemoryStore store;
  Writer first(store, 1);
  Writer second(store, 2);
  const std::string alike(400, 'x');
  for (const std::string& name : {std::string("a"), std::string("b"), alike + "a", alike + "b"})
    first.insert(name);
  EXPECT_EQ(first.flush(), Names());
  for (Writer* const one : {&first, &second}) {
    one->links.erase("a");
    one->links.erase(alike + "a");
  }
  second.insert("c");
  EXPECT_EQ(second.flush(), Names());
  EXPECT_EQ(first.flush(), Names());
  EXPECT_EQ(first.names(), (Names{"b", "c", alike + "b"}));
  EXPECT_EQ(first.links.count(), 3U);
  EXPECT_EQ(first.in_order().size(), 3U);
}

// As a map has them; all that two writers do, who flush at random, is of different names.
TEST(Links, after_random_changes_are_what_a_map_has) {
  std::mt19937 random(3);
  store::MemoryStore store;
  std::vector<std::unique_ptr<Writer>> writers;
  writers.reserve(3);
  for (std::uint32_t i = 0; i < 3; ++i) writers.push_back(std::make_unique<Writer>(store, i));
  std::map<std::string, ObjectId> expected;
  for (unsigned i = 1; i < 5000; ++i) {
    const auto which = random() % writers.size();
    Writer& writer = *writers[which];
    std::string name = std::to_string(random() % 30);
    if (random() % 3 == 0) name.insert(0, 390, 'x');
    name += "of " + std::to_string(which);
    if (expected.contains(name)) {
      writer.links.erase(name);
      expected.erase(name);
    } else {
      writer.insert(name, i);
      expected[name] = i;
    }
    if (random() % 7 == 0) {
      EXPECT_EQ(writer.flush(), Names());
    }
  }
  for (const auto& writer : writers) EXPECT_EQ(writer->flush(), Names());
  const Writer reader(store, 9);
  std::map<std::string, ObjectId> found;
  for (const auto& [name, link] : reader.links.by_name("", false, kAll)) found[name] = link.object;
  EXPECT_EQ(found, expected);
  EXPECT_EQ(reader.links.count(), expected.size());
  EXPECT_EQ(reader.in_order().size(), expected.size());
  const auto stamped = reader.links.by_order(nullptr, kAll);
  EXPECT_TRUE(std::ranges::is_sorted(stamped, {}, [](const NamedLink& one) {
    return std::pair(one.second.stamp, one.second.lease);
  }));
}

// A listing in parts, while changes are pending.
TEST(Links, are_listed_in_parts) {
  store::MemoryStore store;
  Writer writer(store, 1);
  const auto name_of = [](int i) { return std::to_string(10000 + i); };
  for (int i = 0; i < 1000; i += 2) writer.insert(name_of(i));
  EXPECT_EQ(writer.flush(), Names());
  for (int i = 1; i < 1000; i += 2) writer.insert(name_of(i));
  for (int i = 0; i < 1000; i += 5) writer.links.erase(name_of(i));
  Names expected;
  for (int i = 0; i < 1000; ++i)
    if (i % 5 != 0) expected.push_back(name_of(i));
  Names found;
  for (std::string from; true; from = found.back()) {
    const auto part = writer.links.by_name(from, true, 7);
    for (const auto& [name, link] : part) found.push_back(name);
    if (part.size() < 7) break;
  }
  EXPECT_EQ(found, expected);
}

TEST(Links, are_found_by_their_index_whoever_changes_the_group) {
  store::MemoryStore store;
  Writer writer(store, 1);
  Writer other(store, 2);
  const auto name_of = [](int i) { return std::to_string(100'000 + i); };
  for (int i = 0; i < 5000; ++i) writer.insert(name_of(2 * i));
  EXPECT_EQ(writer.flush(), Names());
  const auto check = [&] {
    for (const Writer* const one : {&writer, &other}) {
      const Names names = one->names();
      for (const std::size_t i : {0U, 1U, 1023U, 1024U, 1025U, 4000U, 2048U, 3U, 4996U})
        EXPECT_EQ(
            Writer::names_of(one->links.by_index(Links::Index::name, i, 3)),
            Names(names.begin() + i, names.begin() + std::min<std::size_t>(i + 3, names.size())));
      EXPECT_EQ(Writer::names_of(one->links.by_index(Links::Index::name, 4096, kAll)),
                Names(names.begin() + 4096, names.end()));
      EXPECT_TRUE(one->links.by_index(Links::Index::name, names.size(), 1).empty());
      EXPECT_TRUE(one->links.by_index(Links::Index::name, 9000, 1).empty());
    }
  };
  check();
  writer.insert(name_of(7));
  check();
  writer.links.erase(name_of(1000));
  check();
  EXPECT_EQ(writer.flush(), Names());
  check();
  other.links.erase(name_of(0));
  other.insert(name_of(2001));
  other.insert(name_of(2003));
  EXPECT_EQ(other.flush(), Names());
  check();
}

TEST(PendingTable, that_is_new_sees_what_others_have_written_after_its_first_flush) {
  store::MemoryStore store;
  PendingTable mine(store, "group", /*is_new=*/true);
  PendingTable theirs(store, "group");
  const Merge never = [](const Meeting& met, Lost& /*lost*/) { return met.mine; };
  Lost lost;
  EXPECT_FALSE(mine.find("a"));
  mine.set("a", "1");
  EXPECT_EQ(mine.scan("", 9).size(), 1U);
  mine.flush(never, lost);
  theirs.set("a", "2");
  theirs.set("b", "3");
  theirs.flush(never, lost);
  EXPECT_EQ(mine.find("a"), "2");
  EXPECT_EQ(mine.scan("", 9).size(), 2U);
  mine.set("b", "4");
  mine.flush(never, lost);
  EXPECT_EQ(theirs.find("b"), "4");
}

}  // namespace
}  // namespace headrace::objects

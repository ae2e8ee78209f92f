// Links by their index in groups of many, compared with std::set, whoever changes the group.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <set>
#include <tuple>

#include "objects/check/check.hpp"
#include "objects/check/sweep.hpp"
#include "objects/counting/blocks.hpp"
#include "objects/tree.hpp"

namespace headrace::objects {
namespace {

using Index = Links::Index;
using Names = std::vector<std::string>;

Names names_of(const std::vector<NamedLink>& links) {
  Names names;
  names.reserve(links.size());
  for (const auto& [name, link] : links) names.push_back(name);
  return names;
}

Names part_of(const Names& all, std::size_t first, std::size_t most) {
  const std::size_t begin = std::min(first, all.size());
  const std::size_t end = begin + std::min(most, all.size() - begin);
  return {all.begin() + static_cast<std::ptrdiff_t>(begin),
          all.begin() + static_cast<std::ptrdiff_t>(end)};
}

// One of two that have a container open. Each makes and erases links of names of its own, of which
// the long ones begin alike.
class Writer {
 public:
  Writer(store::Store& store, const char* mark)
      : container_(store, "c"), mark_(mark), group_(at(container_, container_.root(), "g")) {}

  const Links& links() { return container_.links(*group_); }

  void insert(std::mt19937& random) {
    std::string name = std::to_string(random() % 1'000'000) + mark_;
    if (random() % 64 == 0) name.insert(0, 390, mark_.back());
    if (!now.insert(name).second) return;
    container_.link(*group_, name, soft_link("/"));
  }
  void erase(const std::string& name) {  // it may be one of `now`
    container_.unlink(*group_, name);
    now.erase(name);
  }
  void flush() {
    container_.flush();
    flushed = now;
  }
  [[nodiscard]] Names seen_with(const Writer& other) const {
    std::set<std::string> all = now;
    all.insert(other.flushed.begin(), other.flushed.end());
    return {all.begin(), all.end()};
  }

  std::set<std::string> now;
  std::set<std::string> flushed;

 private:
  Container container_;
  std::string mark_;
  Handle group_;
};

class Counting : public Containers {
 protected:
  Counting() {
    Container maker(store_, "c");
    group_ = add(maker, maker.root(), "g", group_header())->place().object;
    maker.flush();
    writers_ = {std::make_unique<Writer>(store_, "of 1"), std::make_unique<Writer>(store_, "of 2")};
  }

  Writer& any() { return *writers_.at(random_() % 2); }
  Writer& other_than(const Writer& writer) {
    return *writers_.at(&writer == writers_[0].get() ? 1 : 0);
  }

  static void check_index(const Links& links, Index index, const Names& expected, std::size_t every,
                          std::mt19937& random) {
    const std::size_t begin = random() % every;
    for (std::size_t i = begin; i < expected.size(); i += every)
      ASSERT_EQ(names_of(links.by_index(index, i, 1)), part_of(expected, i, 1)) << i;
    for (std::size_t i = expected.size(); i > begin; i -= std::min(i, every))
      ASSERT_EQ(names_of(links.by_index(index, i - 1, 1)), part_of(expected, i - 1, 1)) << i - 1;
    ASSERT_EQ(links.number(index), expected.size());
    EXPECT_TRUE(links.by_index(index, expected.size(), 1).empty());
    EXPECT_TRUE(links.by_index(index, expected.size() + 5000, 9).empty());
    for (int i = 0; i < 3 && !expected.empty(); ++i) {
      const std::size_t first = random() % expected.size();
      const std::size_t most = random() % 3000;
      ASSERT_TRUE(names_of(links.by_index(index, first, most)) == part_of(expected, first, most))
          << first << " " << most;
      const auto one = links.by_index(index, first, 1);
      const std::size_t begin = first - std::min(first, most);
      ASSERT_TRUE(names_of(links.in_front_of(index, one.at(0), most)) ==
                  part_of(expected, begin, first - begin))
          << first << " " << most;
    }
  }
  void check(Writer& writer, std::size_t every) {
    const Links& links = writer.links();
    const Names expected = writer.seen_with(other_than(writer));
    check_index(links, Index::name, expected, every, random_);
    const Names in_order = names_of(links.by_order(nullptr, kAll));
    ASSERT_EQ(in_order.size(), expected.size());
    check_index(links, Index::creation, in_order, every, random_);
  }
  // What is stored is counted right.
  void check_stored() {
    std::vector<std::string> found;
    objects::check(store_, "c", Depth::all,
                   [&](const Finding& one) { found.push_back(one.key + ": " + one.cause); });
    EXPECT_EQ(found, Names());
  }
  [[nodiscard]] std::size_t blocks() {
    const PendingTable table(store_, table_of_group("c", group_));
    return table.stored_from(std::string(1, kCount), kAll).size();
  }

  std::mt19937 random_{7};
  ObjectId group_ = 0;
  std::array<std::unique_ptr<Writer>, 2> writers_;
};

TEST_F(Counting, leads_to_the_links_after_random_changes_of_two_writers) {
  // It grows, shrinks to nothing, and grows again.
  for (const int growth : {1, 1, 1, -1, -1, -1, -1, 1, 1}) {
    for (int i = 0; i < 2500; ++i) {
      Writer& writer = any();
      const bool grows = random_() % 6 == 0 ? growth < 0 : growth > 0;
      if (grows || writer.now.empty())
        writer.insert(random_);
      else
        writer.erase(random_() % 2 == 0 ? *writer.now.begin() : *std::prev(writer.now.end()));
      if (random_() % 400 == 0) writer.flush();
      if (random_() % 1000 == 0) check(any(), 397);
    }
    for (const auto& writer : writers_) writer->flush();
    check_stored();
    for (const auto& writer : writers_) check(*writer, 97);
  }
}

TEST_F(Counting, of_every_index_leads_to_its_link) {
  Writer& writer = *writers_[0];
  for (int i = 0; i < 3000; ++i) writer.insert(random_);
  check(writer, 7);
  writer.flush();
  check(writer, 1);
  check(*writers_[1], 7);
  EXPECT_GE(blocks(), 4U);  // two by name, two by order of creation
}

TEST_F(Counting, is_stored_of_groups_of_many_links_only) {
  Writer& writer = *writers_[0];
  while (writer.now.size() < kMostInBlock) writer.insert(random_);
  writer.flush();
  EXPECT_EQ(blocks(), 0U);
  while (writer.now.size() < kMostInBlock + 1) writer.insert(random_);
  writer.flush();
  EXPECT_GE(blocks(), 2U);
  // Those that are left have few links each, but for the last.
  while (writer.now.size() > 3) writer.erase(*std::next(writer.now.begin()));
  writer.flush();
  check_stored();
  EXPECT_EQ(blocks(), 2U);
  while (!writer.now.empty()) writer.erase(*writer.now.begin());
  writer.flush();
  EXPECT_EQ(blocks(), 0U);
  check_stored();
}

TEST_F(Counting, makes_as_many_blocks_as_links_need) {
  Writer& writer = *writers_[0];
  for (int i = 0; i < 8000; ++i) {
    writer.insert(random_);
    if (i % 200 == 0) writer.flush();
  }
  writer.flush();
  const std::size_t whole = writer.now.size() * 2 / kInBlock;
  EXPECT_LE(blocks(), 2 * whole);
  EXPECT_GE(blocks(), whole / 2);
  check_stored();
}

// Both add to one block, which the first cuts.
TEST_F(Counting, is_right_where_another_has_cut_the_block_meanwhile) {
  auto& [first, second] = writers_;
  for (int i = 0; i < 3000; ++i) first->insert(random_);
  first->flush();
  for (int i = 0; i < 3000; ++i) second->insert(random_);
  for (int i = 0; i < 6000; ++i) first->insert(random_);
  first->flush();
  second->flush();
  check_stored();
  check(*first, 11);
  check(*second, 11);
}

// It counts entries of the order of creation, also those that lead to no link.
TEST_F(Counting, is_right_after_a_sweep) {
  Writer& writer = *writers_[0];
  for (int i = 0; i < 5000; ++i) writer.insert(random_);
  writer.flush();
  PendingTable table(store_, table_of_group("c", group_));
  table.set(key_of_order(10, 0), "gone");
  table.prepare(std::string(kSums));
  Lost lost;
  table.flush([](const Meeting& met, Lost&) { return met.mine; }, lost,
              [&] { return count_changes(table, /*in_order=*/true); });
  const auto [entries, chunks, bytes] = sweep(store_, "c", /*erases=*/true, [](const Finding&) {});
  EXPECT_EQ(entries, 1U);
  check_stored();
}

TEST_F(Counting, that_does_not_fit_is_an_error) {
  Writer& writer = *writers_[0];
  for (int i = 0; i < 5000; ++i) writer.insert(random_);
  writer.flush();
  PendingTable table(store_, table_of_group("c", group_));
  const auto entry = table.stored_from(std::string(1, kCount), 1).at(0);
  const auto spoil = [&](std::size_t at) {
    std::string value(store::text_of(entry.value));
    value[at] = static_cast<char>(value[at] ^ 1);
    const store::Change change{entry.key, store::bytes_of(value)};
    static_cast<void>(store_.commit(table_of_group("c", group_), {&change, 1}));
  };
  for (const std::size_t at : {std::size_t{1}, entry.value.size() - 2}) {  // where it begins, links
    spoil(at);
    Writer reader(store_, "");
    const auto error =
        error_of([&] { std::ignore = reader.links().by_index(Index::name, 3000, 1); });
    EXPECT_NE(error, nullptr) << at;
    unsigned damage = 0;
    objects::check(store_, "c", Depth::all, [&](const Finding& one) {
      damage += one.kind == Finding::Kind::damage ? 1 : 0;
    });
    EXPECT_GE(damage, 1U) << at;
  }
}

}  // namespace
}  // namespace headrace::objects

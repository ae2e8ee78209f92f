// Maps of containers, compared with std::map.
#include "objects/entries.hpp"

#include <gtest/gtest.h>

#include <random>

#include "objects/hindered_store.hpp"
#include "objects/tree.hpp"
#include "support/child.hpp"

namespace headrace::objects {
namespace {

using Model = std::map<std::string, std::string>;

class Maps : public Containers {
 protected:
  Maps() {
    Container container(store_, "c");
    add(container, container.root(), "m", map_header());
    container.flush();
  }
  static Handle map(Container& container) { return at(container, container.root(), "m"); }
  static Model all(Container& container, std::size_t page = 7) {
    const Handle object = map(container);
    const Entries& entries = container.entries(*object);
    Model found;
    std::string last;
    for (auto part = entries.from("", false, page); !part.empty();
         part = entries.from(last, true, page)) {
      for (auto& [key, value] : part) {
        EXPECT_TRUE(found.empty() || found.rbegin()->first < key);
        found[key] = value;
      }
      last = part.back().first;
    }
    EXPECT_EQ(entries.count(), found.size());
    return found;
  }
  Model stored() {
    Container reader(store_, "c");
    return all(reader);
  }
  void put(const std::string& key, const std::string& value) {
    Container writer(store_, "c");
    writer.put(*map(writer), key, value);
    writer.flush();
  }
};

// Some begin with the same 384 bytes and more.
std::string random_key(std::mt19937& random) {
  std::string key(random() % 3 == 0 ? kLongName - 1 + random() % 3 : 0, 'k');
  for (auto more = random() % 3; more > 0; --more) key += static_cast<char>('a' + random() % 4);
  return key;
}

// A map, changed beside a model of it.
class Modelled {
 public:
  Modelled(store::Store& store, unsigned seed)
      : store_(store), random_(seed), name_("m" + std::to_string(seed)) {
    add(*container_, container_->root(), name_, map_header());
  }

  void step(int number) {
    const std::string key = random_key(random_);
    const auto what = random_() % 8;
    if (what == 0) container_->flush();
    if (what == 1) {
      container_->flush();
      container_ = std::make_unique<Container>(store_, "c");
    }
    const Handle map = at(*container_, container_->root(), name_);
    if (what == 2 || what == 3) {
      EXPECT_EQ(container_->erase(*map, key), model_.erase(key) == 1);
    } else if (what > 3) {
      container_->put(*map, key, std::to_string(number));
      model_[key] = std::to_string(number);
    }
    expect_alike(container_->entries(*map), key);
  }

  void end() {
    container_->flush();
    Container reader(store_, "c");
    const auto entries = reader.entries(*at(reader, reader.root(), name_)).from("", false, kAll);
    EXPECT_EQ(Model(entries.begin(), entries.end()), model_);
  }

 private:
  void expect_alike(const Entries& entries, const std::string& key) {
    const auto expected = model_.find(key);
    EXPECT_EQ(entries.find(key),
              expected == model_.end() ? std::nullopt : std::optional(expected->second));
    const auto next = model_.upper_bound(key);
    const auto behind = entries.from(key, true, 1);
    EXPECT_EQ(behind,
              next == model_.end() ? std::vector<MapEntry>{} : std::vector{MapEntry(*next)});
    EXPECT_EQ(entries.count(), model_.size());
  }

  store::Store& store_;
  std::mt19937 random_;
  std::string name_;
  std::unique_ptr<Container> container_ = std::make_unique<Container>(store_, "c");
  Model model_;
};

TEST_F(Maps, are_as_a_model) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Modelled map(store_, seed);
    for (int i = 0; i < 300; ++i) map.step(i);
    map.end();
  }
}

TEST_F(Maps, begin_where_they_are_told) {
  Container container(store_, "c");
  const Handle object = map(container);
  const std::string one(kLongName, 'k');
  for (const std::string& key : {std::string(), std::string("a"), one, one + "b", std::string("z")})
    container.put(*object, key, "v");
  const auto first = [&](const std::string& key, bool behind) {
    const auto found = container.entries(*object).from(key, behind, 1);
    return found.empty() ? "none" : found.front().first;
  };
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(first("", false), "");
    EXPECT_EQ(first("", true), "a");
    EXPECT_EQ(first("b", false), one);
    EXPECT_EQ(first(one, false), one);
    EXPECT_EQ(first(one, true), one + "b");
    EXPECT_EQ(first(one + "a", false), one + "b");
    EXPECT_EQ(first(one + "b", true), "z");
    EXPECT_EQ(first("z", true), "none");
    container.flush();
  }
}

TEST_F(Maps, different_keys_of_two_writers_meet) {
  const std::string one(kLongName + 3, 'k');
  Container first(store_, "c");
  Container second(store_, "c");
  for (const std::string& key : {std::string("a"), one + "a"}) first.put(*map(first), key, "1");
  for (const std::string& key : {std::string("b"), one + "b"}) second.put(*map(second), key, "2");
  const Model own = all(second);
  EXPECT_EQ(own, (Model{{"b", "2"}, {one + "b", "2"}}));
  first.flush();
  // What is long is known as it was.
  EXPECT_EQ(second.entries(*map(second)).from("", false, kAll).size(), 3U);
  second.flush();
  EXPECT_EQ(stored(), (Model{{"a", "1"}, {"b", "2"}, {one + "a", "1"}, {one + "b", "2"}}));
}

// The first flush stands, and the second one's error names the key, once.
TEST_F(Maps, one_key_of_two_writers_is_an_error) {
  for (const std::string& begin : {std::string(), std::string(kLongName, 'k')}) {
    put(begin + "old", "0");
    const std::size_t before = stored().size();
    Container first(store_, "c");
    Container second(store_, "c");
    first.put(*map(first), begin + "new", "1");
    EXPECT_TRUE(first.erase(*map(first), begin + "old"));
    second.put(*map(second), begin + "new", "2");
    second.put(*map(second), begin + "own", "3");
    first.flush();
    try {
      second.flush();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::conflict);
      EXPECT_NE(std::string(error.what()).find(begin + "new'"), std::string::npos) << error.what();
    }
    second.flush();
    const Model now = stored();
    EXPECT_EQ(now.size(), before + 1);
    EXPECT_EQ(now.at(begin + "new"), "1");
    EXPECT_EQ(now.at(begin + "own"), "3");
  }
}

TEST_F(Maps, what_two_make_the_same_counts_once) {
  put("old", "0");
  Container first(store_, "c");
  Container second(store_, "c");
  for (Container* const one : {&first, &second}) {
    one->put(*map(*one), "same", "1");
    one->put(*map(*one), "old", "2");
  }
  first.flush();
  second.flush();
  EXPECT_EQ(stored(), (Model{{"old", "2"}, {"same", "1"}}));
  for (Container* const one : {&first, &second}) EXPECT_TRUE(one->erase(*map(*one), "old"));
  first.flush();
  second.flush();
  EXPECT_EQ(stored(), (Model{{"same", "1"}}));
}

TEST_F(Maps, many_writers_lose_nothing) {
  std::mt19937 random(5);
  std::vector<std::unique_ptr<Container>> writers;
  writers.reserve(4);
  for (int i = 0; i < 4; ++i) writers.push_back(std::make_unique<Container>(store_, "c"));
  Model model;
  for (int i = 0; i < 400; ++i) {
    const auto writer = random() % writers.size();
    const std::string key = std::to_string(writer) + random_key(random);
    writers[writer]->put(*map(*writers[writer]), key, std::to_string(i));
    model[key] = std::to_string(i);
    if (random() % 10 == 0) writers[random() % writers.size()]->flush();
  }
  for (const auto& one : writers) one->flush();
  EXPECT_EQ(stored(), model);
}

TEST_F(Maps, a_flush_that_fails_is_made_up_for) {
  store::HinderedStore store(store_);
  Container container(store, "c");
  container.put(*map(container), "a", "1");
  store.left = 0;
  EXPECT_THROW(container.flush(), Error);
  container.put(*map(container), "b", "2");
  store.left = ~0U;
  container.flush();
  EXPECT_EQ(stored(), (Model{{"a", "1"}, {"b", "2"}}));
}

// Also where what is pending is written for a link in another group.
TEST_F(Maps, are_written_after_what_they_lead_to) {
  store::HinderedStore store(store_);
  Container container(store, "c");
  add(container, container.root(), "g", group_header());
  const Handle made = add(container, container.root(), "d", dataset_header());
  container.put(*map(container), "key", "leads to something");
  bool is_there = false;
  container.before_writing([&] { is_there = true; });
  store.meanwhile = [&] { EXPECT_TRUE(is_there); };
  container.link(*at(container, container.root(), "g"), "again", made, true);
  EXPECT_TRUE(is_there);
  EXPECT_EQ(stored().size(), 1U);
}

TEST_F(Maps, are_erased_with_their_entries) {
  {
    Container writer(store_, "c");
    for (int k = 0; k < 3000; ++k) writer.put(*map(writer), std::to_string(k), "v");
    writer.flush();
  }
  ObjectId id = 0;
  {
    Container container(store_, "c");
    Handle object = map(container);
    id = object->place().object;
    container.unlink(*container.root(), "m");
    container.put(*object, "late", "v");
    container.flush();
    EXPECT_EQ(container.entries(*object).count(), 3001U);
    object = nullptr;
    container.flush();
    EXPECT_EQ(container.tables(), 0U);
  }
  EXPECT_TRUE(store_.scan(table_of_group("c", id), "", 1).empty());
}

TEST_F(Maps, go_with_their_container) {
  put("key", "value");
  Container::remove(store_, "c");
  std::size_t tables = 0;
  for (ObjectId id = 0; id < 3; ++id) tables += store_.scan(table_of_group("c", id), "", 1).size();
  EXPECT_EQ(tables, 0U);
  EXPECT_EQ(store_.scan(table_of_places("c"), "", 1).size(), 0U);
}

TEST_F(Maps, whose_map_is_gone_is_an_error) {
  Container first(store_, "c");
  Container second(store_, "c");
  const Handle object = map(second);
  second.put(*object, "key", "v");
  first.unlink(*first.root(), "m");
  first.flush();
  EXPECT_THROW(second.flush(), Error);
}

TEST_F(Maps, a_child_changes_nothing) {
  Container container(store_, "c");
  const Handle object = map(container);
  container.put(*object, "parent", "1");
  const test::Child child([&] {
    EXPECT_THROW(container.put(*object, "child", "2"), Error);
    EXPECT_THROW(container.erase(*object, "parent"), Error);
    container.flush();
    return !testing::Test::HasFailure();
  });
  EXPECT_TRUE(child.ends_well());
  EXPECT_TRUE(stored().empty());
  container.flush();
  EXPECT_EQ(stored(), (Model{{"parent", "1"}}));
}

TEST(MapValue, is_read_as_it_was_written) {
  for (const MapValue& value : {MapValue{std::nullopt, ""}, MapValue{std::nullopt, "value"},
                                MapValue{HeapId{1U << 20U, 7, 4'000'000'000U}, ""}})
    EXPECT_EQ(decode_map_value(encode(value)), value);
  EXPECT_THROW(decode_map_value(""), Error);
  EXPECT_THROW(decode_map_value("\x02"), Error);
}

}  // namespace
}  // namespace headrace::objects

#include "store/conformance.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include "base/error.hpp"

namespace headrace::store {

std::string sample(std::size_t size, unsigned number) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i)
    text[i] = static_cast<char>(((i * 2654435761U) >> 13U) + number);
  return text;
}

std::optional<std::string> whole(Store& store, std::string_view key) {
  std::vector<std::byte> room(1);
  while (true) {
    const auto info = store.get(key, 0, room);
    if (!info) return std::nullopt;
    if (info->size <= room.size()) return std::string(text_of(Bytes(room).first(info->size)));
    room.resize(info->size);
  }
}

Version put(Store& store, const Change& blob) { return store.put({&blob, 1}).front(); }

using namespace std::literals;

namespace {

// None: they were made.
std::optional<std::size_t> commit(Store& store, std::string_view table,
                                  const std::vector<Change>& changes) {
  const auto [version, refused] = store.commit(table, changes);
  for (const Change& one : changes)
    if (!refused && one.value) {
      EXPECT_EQ(present(store.find(table, one.key)).version, version);
    }
  return refused;
}

std::string value_in(Store& store, std::string_view table, std::string_view key) {
  const auto entry = store.find(table, key);
  return entry ? std::string(text_of(entry->value)) : "none";
}

std::vector<std::string> keys_from(Store& store, std::string_view table, std::string_view from,
                                   std::size_t most) {
  std::vector<std::string> keys;
  for (const Entry& entry : store.scan(table, from, most)) keys.push_back(entry.key);
  return keys;
}

TEST_P(Conformance, NamesAreKeptByManyOrByOneAlone) {
  {
    const auto one = store_.keep("name", Keeping::shared);
    EXPECT_TRUE(one);
    EXPECT_TRUE(store_.keep("name", Keeping::shared));
    EXPECT_FALSE(store_.keep("name", Keeping::alone));
    EXPECT_TRUE(store_.keep("other", Keeping::alone));
  }
  {
    const auto alone = store_.keep("name", Keeping::alone);
    EXPECT_TRUE(alone);
    EXPECT_FALSE(store_.keep("name", Keeping::shared));
    EXPECT_FALSE(store_.keep("name", Keeping::alone));
    put(store_, change("name", "beside it"));
  }
  EXPECT_TRUE(store_.keep("name", Keeping::shared));
}

TEST_P(Conformance, BlobsOfAllSizesAreWhatWasPut) {
  unsigned number = 0;
  for (const std::size_t size : {0U, 1U, 4096U, 65535U, 65536U, 65537U, 3000001U}) {
    const std::string value = sample(size, ++number);
    const std::string key = "blob " + std::to_string(size);
    EXPECT_NE(put(store_, change(key, value)), kAbsent);
    EXPECT_EQ(whole(store_, key), value);
    for (const std::size_t offset : {std::size_t{0}, size / 3, size, size + 10}) {
      std::vector<std::byte> room(100, std::byte{7});
      const auto info = store_.get(key, offset, room);
      ASSERT_TRUE(info);
      EXPECT_EQ(info->size, size);
      std::string expected = value.substr(std::min(offset, size), 100);
      expected.resize(100, 7);
      EXPECT_EQ(text_of(room), expected);
    }
  }
  EXPECT_FALSE(store_.get("another", 0, {}));
}

TEST_P(Conformance, ABlobIsPutWhereItHasTheVersionExpected) {
  for (const std::size_t size : {10U, 100000U}) {
    const std::string key = std::to_string(size);
    EXPECT_EQ(put(store_, change(key, sample(size, 1), 77)), kAbsent);
    EXPECT_FALSE(whole(store_, key));
    const Version first = put(store_, change(key, sample(size, 1), kAbsent));
    ASSERT_NE(first, kAbsent);
    EXPECT_EQ(put(store_, change(key, sample(size, 2), kAbsent)), kAbsent);
    EXPECT_EQ(whole(store_, key), sample(size, 1));
    const Version second = put(store_, change(key, sample(size, 2), first));
    EXPECT_GT(second, first);
    EXPECT_EQ(put(store_, change(key, sample(size, 3), first)), kAbsent);
    EXPECT_EQ(put(store_, erasure(key, first)), kAbsent);
    EXPECT_EQ(whole(store_, key), sample(size, 2));
    EXPECT_EQ(present(store_.get(key, 0, {})).version, second);
    put(store_, erasure(key, second));
    EXPECT_FALSE(whole(store_, key));
    put(store_, erasure(key));
    // What comes back is another.
    EXPECT_GT(put(store_, change(key, sample(size, 1), kAbsent)), second);
  }
}

TEST_P(Conformance, OfManyBlobsThoseAreRefusedThatAreNotAsExpected) {
  put(store_, change("a", "first"));
  const std::string large = sample(200000, 3);
  const std::vector<Change> blobs{change("a", "second", kAbsent), change("b", large, kAbsent),
                                  erasure("c"), change("d", "fourth")};
  const auto versions = store_.put(blobs);
  ASSERT_EQ(versions.size(), 4U);
  EXPECT_EQ(versions[0], kAbsent);
  EXPECT_NE(versions[1], kAbsent);
  EXPECT_EQ(versions[2], kAbsent);
  EXPECT_NE(versions[3], kAbsent);
  EXPECT_EQ(whole(store_, "a"), "first");
  EXPECT_EQ(whole(store_, "b"), large);
  EXPECT_EQ(store_.put({}).size(), 0U);
}

TEST_P(Conformance, ValuesOfTwoPartsAreBothOneAfterTheOther) {
  for (const std::size_t size : {0U, 1U, 60000U, 65530U, 65536U, 200000U}) {
    const std::string front = sample(7, 1);
    const std::string rest = sample(size, 2);
    Change both = change("a", rest);
    both.front = bytes_of(front);
    put(store_, both);
    EXPECT_EQ(present(store_.get("a", 0, {})).size, 7 + size);
    EXPECT_EQ(whole(store_, "a"), front + rest);
  }
  Change entry = change("k", "rest");
  entry.front = bytes_of("front ");
  commit(store_, "t", {entry});
  EXPECT_EQ(value_in(store_, "t", "k"), "front rest");
}

TEST_P(Conformance, ATableChangesAsAWholeOrNotAtAll) {
  EXPECT_EQ(commit(store_, "t", {change("a", "1", kAbsent), change("b", "2", kAbsent)}),
            std::nullopt);
  EXPECT_EQ(commit(store_, "t", {change("c", "3"), change("b", "4", kAbsent)}), 1U);
  EXPECT_EQ(value_in(store_, "t", "c"), "none");
  EXPECT_EQ(value_in(store_, "t", "b"), "2");
  const Version version = present(store_.find("t", "b")).version;
  EXPECT_EQ(commit(store_, "t", {erasure("a", version + 1), change("b", "5", version)}), 0U);
  EXPECT_EQ(value_in(store_, "t", "b"), "2");
  EXPECT_EQ(commit(store_, "t", {erasure("a"), change("b", "5", version)}), std::nullopt);
  EXPECT_EQ(value_in(store_, "t", "a"), "none");
  EXPECT_EQ(value_in(store_, "t", "b"), "5");
  EXPECT_EQ(commit(store_, "t", {erasure("a", kAbsent), erasure("nothing")}), std::nullopt);
  EXPECT_EQ(commit(store_, "t", {}), std::nullopt);
}

TEST_P(Conformance, OfSeveralTablesThoseBeforeARefusedOneChange) {
  const std::vector<Change> one{change("a", "1", kAbsent), change("b", "2", kAbsent)};
  const std::vector<Change> other{change("a", "3", kAbsent)};
  const std::vector<Change> erasing{erasure("b")};
  const std::vector<TableChanges> all{{"none", {}}, {"t", one}, {"u", other}, {"v", erasing}};
  const auto made = store_.commit_in_order(all);
  ASSERT_EQ(made.size(), 4U);
  for (const Commit& each : made) EXPECT_EQ(each.refused, std::nullopt);
  EXPECT_EQ(present(store_.find("t", "b")).version, made[1].version);
  EXPECT_EQ(present(store_.find("u", "a")).version, made[2].version);

  const std::vector<Change> known{change("a", "4", made[1].version)};
  const std::vector<Change> late{change("c", "5"), change("a", "6", kAbsent)};
  const auto some = store_.commit_in_order(
      std::vector<TableChanges>{{"none", {}}, {"t", known}, {"u", late}, {"v", one}});
  ASSERT_EQ(some.size(), 3U);
  EXPECT_EQ(some[1].refused, std::nullopt);
  EXPECT_EQ(some[2].refused, 1U);
  EXPECT_EQ(value_in(store_, "t", "a"), "4");
  EXPECT_EQ(present(store_.find("t", "a")).version, some[1].version);
  EXPECT_EQ(value_in(store_, "u", "c"), "none");
  EXPECT_EQ(value_in(store_, "u", "a"), "3");
  EXPECT_EQ(value_in(store_, "v", "a"), "none");

  const auto none = store_.commit_in_order(std::vector<TableChanges>{{"u", late}, {"v", one}});
  ASSERT_EQ(none.size(), 1U);
  EXPECT_EQ(none[0].refused, 1U);
  EXPECT_EQ(value_in(store_, "v", "a"), "none");
}

TEST_P(Conformance, TablesAndBlobsDoNotMix) {
  const std::vector<std::string> tables{"a", "ab", "a\0"s, "b", std::string(kLongestTable, 'a')};
  for (const std::string& table : tables)
    for (const std::string key : {"a", "b", "ba"})
      EXPECT_EQ(commit(store_, table, {change(key, table + key, kAbsent)}), std::nullopt);
  put(store_, change("a", "a blob"));
  for (const std::string& table : tables) {
    EXPECT_EQ(keys_from(store_, table, "", 100), (std::vector<std::string>{"a", "b", "ba"}));
    EXPECT_EQ(value_in(store_, table, "ba"), table + "ba");
  }
  EXPECT_TRUE(keys_from(store_, "none", "", 100).empty());
  const auto blobs = store_.list("", 100);
  ASSERT_EQ(blobs.size(), 1U);
  EXPECT_EQ(blobs[0].key, "a");
  EXPECT_EQ(blobs[0].info.size, 6U);
}

TEST_P(Conformance, KeysAreAnyBytesInTheirOrder) {
  std::vector<std::string> keys{std::string(1, '\0'), "\x7f", "\x80", "\xff"};
  keys.emplace_back(kLongestKey, '\xff');
  keys.emplace_back(kLongestKey, '\0');
  for (unsigned i = 0; i < 200; ++i) keys.push_back(sample(1 + i * 2, i));
  std::ranges::sort(keys, {}, [](const std::string& key) {
    return std::vector<unsigned char>(key.begin(), key.end());
  });
  keys.erase(std::ranges::unique(keys).begin(), keys.end());
  for (const std::string& key : keys) {
    EXPECT_EQ(commit(store_, "t", {change(key, key)}), std::nullopt);
    put(store_, change(key, key));
  }
  EXPECT_EQ(keys_from(store_, "t", "", keys.size() + 1), keys);
  const auto blobs = store_.list(keys[7], 50);
  ASSERT_EQ(blobs.size(), 50U);
  for (std::size_t i = 0; i < blobs.size(); ++i) EXPECT_EQ(blobs[i].key, keys[7 + i]);
  for (const std::string& key : keys) {
    EXPECT_EQ(value_in(store_, "t", key), key);
    EXPECT_EQ(whole(store_, key), key);
  }
}

TEST_P(Conformance, KeysThatNoStoreTakesAreRefused) {
  const std::string longer(kLongestKey + 1, 'k');
  for (const std::string& key : {std::string(), longer}) {
    const auto refused = [&](const auto& call) {
      try {
        call();
        ADD_FAILURE() << "a key of " << key.size() << " bytes was taken";
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::unsupported) << error.what();
      }
    };
    refused([&] { (void)commit(store_, "t", {change("a", "1"), change(key, "1")}); });
    refused([&] { (void)store_.find("t", key); });
    refused([&] { put(store_, change(key, "1")); });
    refused([&] { (void)store_.get(key, 0, {}); });
  }
  EXPECT_EQ(value_in(store_, "t", "a"), "none");
  EXPECT_THROW((void)store_.scan("", "", 1), Error);
  EXPECT_THROW((void)store_.scan(std::string(kLongestTable + 1, 't'), "", 1), Error);
}

TEST_P(Conformance, ALongTableIsScannedInParts) {
  constexpr std::size_t kAll = 100000;
  const auto key_of = [](std::size_t i) {
    std::string key = std::to_string(i);
    return std::string(6 - key.size(), '0') + key;
  };
  std::vector<Change> changes;
  changes.reserve(kAll);
  for (std::size_t i = 0; i < kAll; ++i) changes.push_back(change(key_of(i), "value"));
  ASSERT_FALSE(store_.commit("t", changes).refused);
  std::size_t seen = 0;
  for (std::string from; true;) {
    const auto part = store_.scan("t", from, 777);
    if (part.empty()) break;
    for (const Entry& entry : part) EXPECT_EQ(entry.key, key_of(seen++));
    from = part.back().key + '\0';
  }
  EXPECT_EQ(seen, kAll);
  EXPECT_EQ(keys_from(store_, "t", key_of(kAll / 2), 2),
            (std::vector<std::string>{key_of(kAll / 2), key_of(kAll / 2 + 1)}));
  EXPECT_TRUE(store_.scan("t", "", 0).empty());
}

// Each adds one to two numbers of a table, and to a blob, as often as it is told.
void count(Store& store, unsigned times, std::size_t blob_size) {
  for (unsigned i = 0; i < times;) {
    const auto entries = store.scan("t", "", 2);
    const std::string next = std::to_string(std::stoi(std::string(text_of(entries[0].value))) + 1);
    EXPECT_EQ(entries[0].value, entries[1].value);
    const std::vector both{change("a", next, entries[0].version), change("b", next)};
    if (!store.commit("t", both).refused) ++i;
  }
  for (unsigned i = 0; i < times;) {
    std::vector<std::byte> room(blob_size);
    const auto info = store.get("n", 0, room);
    EXPECT_EQ(std::ranges::count(room, room[0]), std::ssize(room));
    std::string next(blob_size, static_cast<char>(std::to_integer<int>(room[0]) + 1));
    if (put(store, change("n", next, present(info).version)) != kAbsent) ++i;
  }
}

TEST_P(Conformance, WritersLoseNothingOfEachOther) {
  constexpr unsigned kTimes = 30;
  constexpr unsigned kWriters = 4;
  for (const std::size_t size : {100U, 100000U}) {
    ASSERT_FALSE(commit(store_, "t", {change("a", "0"), change("b", "0")}));
    put(store_, change("n", std::string(size, '\0')));
    std::vector<std::jthread> writers;
    writers.reserve(kWriters);
    for (unsigned i = 0; i < kWriters; ++i)
      writers.emplace_back([&] { count(store_, kTimes, size); });
    writers.clear();
    EXPECT_EQ(value_in(store_, "t", "b"), std::to_string(kTimes * kWriters));
    EXPECT_EQ(whole(store_, "n"), std::string(size, static_cast<char>(kTimes * kWriters)));
  }
}

// A store as a map has it.
struct Expected {
  std::map<std::string, std::string> blobs;
  std::map<std::string, std::string> entries;
};

void change_at_random(Store& store, Expected& expected, std::mt19937& random) {
  const std::string key = std::to_string(random() % 30);
  const std::string value = sample(random() % 3 == 0 ? 65000 + random() % 2000 : random() % 50,
                                   static_cast<unsigned>(random()));
  const bool erases = random() % 4 == 0;
  const bool is_blob = random() % 2 == 0;
  auto& values = is_blob ? expected.blobs : expected.entries;
  const Change one = erases ? erasure(key) : change(key, value);
  if (is_blob)
    put(store, one);
  else
    ASSERT_FALSE(store.commit("t", {&one, 1}).refused);
  if (erases)
    values.erase(key);
  else
    values[key] = value;
}

TEST_P(Conformance, TablesAreThoseWithEntriesShorterNamesFirst) {
  const std::string longest(kLongestTable, '\xff');
  const std::vector<std::string> names{"b",     "\xff",         "a/1",  "a/2",
                                       "a\0b"s, "\xff\xff\xff", "a/10", longest};
  for (const std::string& name : names)
    for (const std::string& key : {"k"s, std::string(kLongestKey, '\xff')})
      commit(store_, name, {change(key, "1")});
  commit(store_, "gone", {change("k", "1")});
  commit(store_, "gone", {erasure("k")});
  put(store_, change("blob", "1"));
  const std::vector<std::string> all{"b",   "\xff",         "a\0b"s, "a/1",
                                     "a/2", "\xff\xff\xff", "a/10",  longest};
  EXPECT_EQ(store_.tables("", "", 100), all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string behind = i == 0 ? "" : all[i - 1];
    EXPECT_EQ(store_.tables("", behind, 1), std::vector{all[i]});
  }
  EXPECT_EQ(store_.tables("", longest, 1), std::vector<std::string>{});
  EXPECT_EQ(store_.tables("a/", "", 100), (std::vector<std::string>{"a/1", "a/2", "a/10"}));
  EXPECT_EQ(store_.tables("a/", "a/1", 100), (std::vector<std::string>{"a/2", "a/10"}));
  EXPECT_EQ(store_.tables("a/", "b", 100), (std::vector<std::string>{"a/1", "a/2", "a/10"}));
  EXPECT_EQ(store_.tables("a/", "z/z", 100), std::vector<std::string>{"a/10"});
  EXPECT_EQ(store_.tables("c", "", 100), std::vector<std::string>{});
}

TEST_P(Conformance, AfterRandomChangesItIsWhatAMapIs) {
  std::mt19937 random(11);
  Expected expected;
  for (unsigned i = 0; i < 2000; ++i) {
    change_at_random(store_, expected, random);
    if (i % 100 != 99) continue;
    const auto entries = store_.scan("t", "", 100);
    ASSERT_EQ(entries.size(), expected.entries.size());
    for (const Entry& entry : entries) EXPECT_EQ(text_of(entry.value), expected.entries[entry.key]);
    const auto blobs = store_.list("", 100);
    ASSERT_EQ(blobs.size(), expected.blobs.size());
    for (const ListedBlob& blob : blobs)
      EXPECT_EQ(whole(store_, blob.key), expected.blobs[blob.key]);
    store_.collect(Collect::erase);
  }
}

}  // namespace
}  // namespace headrace::store

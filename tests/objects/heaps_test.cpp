#include "objects/heaps.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <utility>

#include "base/error.hpp"
#include "objects/hindered_store.hpp"
#include "objects/keys.hpp"
#include "store/memory/memory_store.hpp"
#include "support/child.hpp"

namespace headrace::objects {
namespace {

class HeapsOfValues : public testing::Test {
 protected:
  std::unique_ptr<Heaps> open(store::Store& store) {
    return std::make_unique<Heaps>(store, "c", [this] { return ++made_; });
  }
  static HeapId put(Heaps& heaps, std::string_view value) {
    return heaps.put(store::bytes_of(value));
  }
  static std::string get(Heaps& heaps, const HeapId& id) {
    std::string value(id.size, '\0');
    heaps.get(id, std::as_writable_bytes(std::span(value)));
    return value;
  }
  // What get() throws: its kind, and whether it names the heap.
  static ErrorKind kind_of_get(Heaps& heaps, const HeapId& id) {
    try {
      get(heaps, id);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("heap " + std::to_string(id.heap) + " "),
                std::string::npos)
          << error.what();
      return error.kind();
    }
    ADD_FAILURE() << "nothing is thrown";
    return ErrorKind::failed;
  }
  std::vector<std::byte> blob_of(std::uint64_t heap) {
    const std::string key = key_of_heap("c", heap);
    std::vector<std::byte> blob(Heaps::kMostBytes + 5);
    const auto info = store_.get(key, 0, blob);
    blob.resize(info ? info->size : 0);
    return blob;
  }
  void set_blob(std::uint64_t heap, std::optional<store::Bytes> bytes) {
    const store::Change change{key_of_heap("c", heap), bytes};
    store_.put({&change, 1});
  }

  store::MemoryStore store_;
  std::uint64_t made_ = 0;
};

TEST_F(HeapsOfValues, have_what_was_put_before_a_flush_and_when_opened_again) {
  auto heaps = open(store_);
  const HeapId first = put(*heaps, "one");
  const HeapId second = put(*heaps, "another");
  EXPECT_EQ(first.heap, second.heap);
  EXPECT_EQ(heaps->size(), 10U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(get(*heaps, first), "one");
    EXPECT_EQ(get(*heaps, second), "another");
    heaps->flush();
    EXPECT_EQ(heaps->size(), 0U);
    if (i == 1) heaps = open(store_);
  }
  EXPECT_EQ(store_.list("", 10).size(), 1U);
}

TEST_F(HeapsOfValues, have_empty_ones_without_a_heap) {
  const auto heaps = open(store_);
  const HeapId none = put(*heaps, "");
  EXPECT_EQ(none, HeapId{});
  EXPECT_EQ(get(*heaps, none), "");
  heaps->flush();
  EXPECT_TRUE(store_.list("", 1).empty());
  EXPECT_EQ(made_, 0U);
}

TEST_F(HeapsOfValues, give_large_ones_heaps_of_their_own) {
  const auto heaps = open(store_);
  const std::string full(Heaps::kMostBytes, 'f');
  const std::string large(20U << 20U, 'l');
  const HeapId before = put(*heaps, "before");
  const HeapId alone = put(*heaps, large);
  const HeapId after = put(*heaps, "after");
  EXPECT_EQ(before.heap, after.heap);
  EXPECT_NE(before.heap, alone.heap);
  const HeapId next = put(*heaps, full);
  EXPECT_NE(next.heap, before.heap);
  EXPECT_EQ(next.offset, 0U);
  EXPECT_NE(put(*heaps, "last").heap, next.heap);
  heaps->flush();
  const auto again = open(store_);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(get(*again, alone), large);
    EXPECT_EQ(get(*again, before), "before");
    EXPECT_EQ(get(*again, after), "after");
    EXPECT_EQ(get(*again, next), full);
  }
}

TEST_F(HeapsOfValues, are_refused_from_4_GiB_on) {
  const auto heaps = open(store_);
  const std::byte first{};
  try {
    heaps->put({&first, std::size_t{1} << 32U});  // it is not looked at
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  }
  EXPECT_EQ(heaps->size(), 0U);
}

TEST_F(HeapsOfValues, never_change_once_they_are_stored) {
  store::HinderedStore hindered(store_);
  const auto heaps = open(hindered);
  const HeapId first = put(*heaps, "first");
  heaps->flush();
  const auto before = blob_of(first.heap);
  const HeapId second = put(*heaps, "second");
  EXPECT_NE(first.heap, second.heap);
  hindered.left = 0;
  EXPECT_THROW(heaps->flush(), Error);
  EXPECT_EQ(heaps->size(), 6U);
  EXPECT_EQ(get(*heaps, second), "second");
  // It may have been stored all the same.
  const HeapId third = put(*heaps, "third");
  EXPECT_NE(second.heap, third.heap);
  hindered.left = ~0U;
  heaps->flush();
  const auto again = open(store_);
  EXPECT_EQ(get(*again, first) + get(*again, second) + get(*again, third), "firstsecondthird");
  EXPECT_EQ(blob_of(first.heap), before);
}

TEST_F(HeapsOfValues, that_are_damaged_are_errors) {
  const auto writer = open(store_);
  const HeapId id = put(*writer, "precious");
  writer->flush();
  const std::vector<std::byte> sound = blob_of(id.heap);
  for (std::size_t i = 0; i < sound.size(); ++i) {
    std::vector<std::byte> damaged = sound;
    damaged[i] ^= std::byte{0x10};
    set_blob(id.heap, damaged);
    EXPECT_EQ(kind_of_get(*open(store_), id), i == 0 ? ErrorKind::unsupported : ErrorKind::corrupt);
    set_blob(id.heap, store::Bytes(sound).first(i));
    EXPECT_EQ(kind_of_get(*open(store_), id), ErrorKind::corrupt) << i;
  }
  set_blob(id.heap, std::nullopt);
  EXPECT_EQ(kind_of_get(*open(store_), id), ErrorKind::not_found);
}

TEST_F(HeapsOfValues, that_have_no_such_value_are_errors) {
  const auto heaps = open(store_);
  const HeapId id = put(*heaps, "precious");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(kind_of_get(*heaps, {id.heap, 1, 8}), ErrorKind::corrupt);
    EXPECT_EQ(kind_of_get(*heaps, {id.heap, 0, 9}), ErrorKind::corrupt);
    EXPECT_EQ(kind_of_get(*heaps, {id.heap, 9, 1}), ErrorKind::corrupt);
    EXPECT_EQ(kind_of_get(*heaps, {id.heap, ~0U, 8}), ErrorKind::corrupt);
    EXPECT_EQ(kind_of_get(*heaps, {0, 0, 8}), ErrorKind::not_found);
    std::vector<std::byte> shorter(7);
    EXPECT_THROW(heaps->get(id, shorter), Error);
    EXPECT_EQ(get(*heaps, {id.heap, 3, 5}), "cious");
    heaps->flush();
  }
}

TEST_F(HeapsOfValues, are_kept_as_long_as_few_others_are_read) {
  const auto writer = open(store_);
  std::vector<HeapId> ids;
  for (char letter = 'a'; letter < 'a' + 9; ++letter) {
    ids.push_back(put(*writer, std::string(100, letter)));
    writer->flush();
  }
  const auto heaps = open(store_);
  for (std::size_t i = 0; i < 8; ++i) get(*heaps, ids[i]);
  get(*heaps, ids[0]);  // the second is the one that was not read for longest
  for (std::size_t i = 0; i < 8; ++i) set_blob(ids[i].heap, std::nullopt);
  get(*heaps, ids[8]);
  EXPECT_EQ(get(*heaps, ids[0]), std::string(100, 'a'));
  EXPECT_EQ(get(*heaps, ids[2]), std::string(100, 'c'));
  EXPECT_EQ(kind_of_get(*heaps, ids[1]), ErrorKind::not_found);
}

TEST_F(HeapsOfValues, after_random_puts_and_flushes_that_fail_have_them_all) {
  std::mt19937 random(7);
  store::HinderedStore hindered(store_);
  auto heaps = open(hindered);
  std::vector<std::pair<HeapId, std::string>> all;
  for (unsigned i = 0; i < 4000; ++i) {
    const std::size_t size = random() % 50 == 0 ? random() % 1'500'000 : random() % 300;
    std::string value(size, static_cast<char>(random()));
    all.emplace_back(put(*heaps, value), std::move(value));
    const auto& [id, expected] = all[random() % all.size()];
    ASSERT_EQ(get(*heaps, id), expected);
    if (random() % 40 != 0) continue;
    hindered.left = random() % 2;
    const bool has_failed = error_of([&] { heaps->flush(); }) != nullptr;
    EXPECT_EQ(has_failed, heaps->size() > 0);
    hindered.left = ~0U;
    if (!has_failed) heaps = open(hindered);
  }
  heaps->flush();
  heaps = open(store_);
  for (const auto& [id, expected] : all) ASSERT_EQ(get(*heaps, id), expected);
  for (const auto& [key, info] : store_.list("", 10'000)) EXPECT_TRUE(key.starts_with("c/v/"));
}

TEST_F(HeapsOfValues, of_a_parent_are_not_stored_by_a_child) {
  const auto heaps = open(store_);
  const HeapId id = put(*heaps, "precious");
  const test::Child child([&] {
    const bool refuses = error_of([&] { put(*heaps, "more"); }) != nullptr;
    heaps->flush();
    return refuses && get(*heaps, id) == "precious" && store_.list("", 1).empty();
  });
  EXPECT_TRUE(child.ends_well());
  heaps->flush();
  EXPECT_EQ(get(*open(store_), id), "precious");
}

}  // namespace
}  // namespace headrace::objects

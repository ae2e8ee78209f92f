#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <vector>

#include "base/error.hpp"
#include "engine/threads/thread_pool.hpp"
#include "objects/hindered_store.hpp"
#include "objects/keys.hpp"
#include "objects/pending_chunks.hpp"
#include "store/memory/memory_store.hpp"

namespace headrace::objects {
namespace {

using Number = std::uint32_t;
constexpr std::size_t kElements = 50;
constexpr std::size_t kBytes = kElements * sizeof(Number);
constexpr Number kFill = 77;

// Turns the bits of chunks round, but of those whose first element is odd.
class Turning final : public Codec {
 public:
  engine::Buffer encode(std::span<const std::byte> chunk, std::uint32_t& left_out) const override {
    if ((std::to_integer<unsigned>(chunk[0]) & 1U) != 0) {
      left_out = 1;
      return {};
    }
    engine::Buffer turned(chunk.size());
    std::ranges::transform(chunk, turned.data(), [](std::byte byte) { return ~byte; });
    return turned;
  }
  void decode(std::uint32_t left_out, store::Bytes stored,
              std::span<std::byte> chunk) const override {
    if (stored.size() != chunk.size()) throw Error("of another size", ErrorKind::corrupt);
    std::ranges::transform(stored, chunk.begin(),
                           [&](std::byte byte) { return left_out == 0 ? ~byte : byte; });
  }
};

class Chunks : public testing::Test {
 protected:
  Chunks() : threads_(2) {
    of_.prefix = "c/d/";
    of_.rank = 2;
    of_.chunk = {5, 10};
    of_.element = sizeof(Number);
    of_.chunk_bytes = kBytes;
    of_.fill.resize(sizeof kFill);
    std::ranges::copy(std::as_bytes(std::span(&kFill, 1)), of_.fill.begin());
  }
  [[nodiscard]] std::unique_ptr<PendingChunks> open(store::Store& store) const {
    return std::make_unique<PendingChunks>(store, codec_, of_);
  }

  engine::WantedThreads threads_;
  store::MemoryStore store_;
  Turning codec_;
  ChunksOf of_;
};

using store::bytes_of;
using Values = std::array<Number, kElements>;

Values all_of(Number number) {
  Values values;
  values.fill(number);
  return values;
}

Values read(const PendingChunks& chunks, std::uint64_t row, std::uint64_t column) {
  Values values{};
  chunks.read({row, column}, std::as_writable_bytes(std::span(values)));
  return values;
}

void write(PendingChunks& chunks, std::uint64_t row, std::uint64_t column, const Values& values) {
  engine::Buffer chunk(kBytes);
  std::ranges::copy(std::as_bytes(std::span(values)), chunk.data());
  chunks.write({row, column}, std::move(chunk));
}

void write_part(PendingChunks& chunks, std::uint64_t row, std::uint64_t column, std::size_t first,
                std::size_t count, Number number) {
  const auto put = [&](std::byte* chunk, std::byte* written) {
    for (std::size_t i = first; i < first + count; ++i) {
      std::ranges::copy(std::as_bytes(std::span(&number, 1)), chunk + i * sizeof number);
      if (written != nullptr) written[i] = std::byte{1};
    }
  };
  chunks.write_part({row, column}, put, {first, first + count, count});
}

TEST_F(Chunks, are_filled_where_nothing_was_written) {
  const auto chunks = open(store_);
  EXPECT_EQ(read(*chunks, 3, 4), all_of(kFill));
  chunks->flush();
  EXPECT_TRUE(store_.list("", 1).empty());
}

TEST_F(Chunks, are_what_was_written_before_a_flush_and_when_opened_again) {
  auto chunks = open(store_);
  write(*chunks, 0, 1, all_of(6));
  write(*chunks, 1, 0, all_of(7));
  write_part(*chunks, 2, 2, 10, 5, 8);
  Values part = all_of(kFill);
  std::fill_n(part.begin() + 10, 5, 8);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(read(*chunks, 0, 1), all_of(6));
    EXPECT_EQ(read(*chunks, 1, 0), all_of(7));
    EXPECT_EQ(read(*chunks, 2, 2), part);
    EXPECT_EQ(read(*chunks, 0, 0), all_of(kFill));
    chunks->flush();
    EXPECT_EQ(chunks->size(), 0U);
    if (i == 1) chunks = open(store_);
  }
  EXPECT_EQ(store_.list("", 10).size(), 3U);
}

TEST_F(Chunks, that_two_write_in_part_have_what_both_have_written) {
  const auto first = open(store_);
  const auto second = open(store_);
  for (Number turn = 1; turn < 4; ++turn) {
    write_part(*first, 0, 0, 0, 20, turn);
    write_part(*second, 0, 0, 20, 30, 100 + turn);
    first->flush();
    second->flush();
    Values both = all_of(100 + turn);
    std::fill_n(both.begin(), 20, turn);
    EXPECT_EQ(read(*first, 0, 0), both);
    EXPECT_EQ(read(*second, 0, 0), both);
  }
}

TEST_F(Chunks, that_another_stores_between_a_look_and_a_put_have_what_both_have_written) {
  store::HinderedStore hindered(store_);
  const auto chunks = open(hindered);
  const auto another = open(store_);
  for (const std::uint64_t row : {0U, 1U}) {
    if (row == 1) write(*another, row, 0, all_of(3));
    another->flush();
    write_part(*chunks, row, 0, 0, 10, 1);
    write_part(*another, row, 0, 5, 20, 2);
    hindered.meanwhile = [&] { another->flush(); };
    chunks->flush();
    Values both = all_of(row == 1 ? 3 : kFill);
    std::fill_n(both.begin() + 5, 20, 2);
    std::fill_n(both.begin(), 10, 1);
    EXPECT_EQ(read(*open(store_), row, 0), both);
  }
}

Values read_alone(PendingChunks& chunks, const Coordinates& at) {
  Values values{};
  chunks.read_all({&at, 1}, [&](std::size_t, const std::byte* chunk) {
    std::copy_n(chunk, kBytes, std::as_writable_bytes(std::span(values)).begin());
  });
  return values;
}

TEST_F(Chunks, that_are_read_amid_writes_have_what_another_has_stored_since) {
  for (const bool few : {false, true}) {
    const auto chunks = open(store_);
    const auto another = open(store_);
    const std::uint64_t row = few ? 1 : 0;
    const std::size_t mine = few ? 1 : 20;
    Values expected = all_of(kFill);
    for (Number turn = 1; turn < 5; ++turn) {
      write_part(*chunks, row, 0, 0, mine, turn);
      std::fill_n(expected.begin(), mine, turn);
      EXPECT_EQ(read_alone(*chunks, {row, 0}), expected);
      EXPECT_EQ(read_alone(*chunks, {row, 0}), expected);
      write_part(*another, row, 0, 30, 5, 100 + turn);
      another->flush();
      std::fill_n(expected.begin() + 30, 5, 100 + turn);
      // It is stored over what it has not seen, or over what it has.
      if (turn % 2 == 0) {
        EXPECT_EQ(read_alone(*chunks, {row, 0}), expected);
        EXPECT_EQ(read(*chunks, row, 0), expected);
      }
      if (turn < 3) continue;
      chunks->flush();
      EXPECT_EQ(read(*open(store_), row, 0), expected);
    }
  }
}

TEST_F(Chunks, of_which_few_elements_are_written_take_little_memory) {
  of_.chunk = {1, 1 << 20};
  of_.chunk_bytes = sizeof(Number) << 20U;
  const auto chunks = open(store_);
  for (Number i = 0; i < 100; ++i) write_part(*chunks, i, 0, std::size_t{1000} * i, 1, i);
  EXPECT_LT(chunks->size(), 1U << 20U);
  for (const bool stored : {false, true}) {
    if (stored) chunks->flush();
    std::vector<Number> chunk(1 << 20);
    chunks->read({99, 0}, std::as_writable_bytes(std::span(chunk)));
    EXPECT_EQ(chunk[99'000], 99U);
    EXPECT_EQ(std::ranges::count(chunk, kFill), (1 << 20) - 1);
  }
}

TEST_F(Chunks, that_are_written_part_by_part_are_not_read_first) {
  const auto chunks = open(store_);
  store_.put(std::vector{store::Change{"c/d/" + std::string(16, '\0'), bytes_of("damaged")}});
  EXPECT_THROW(read(*chunks, 0, 0), Error);
  write_part(*chunks, 0, 0, 0, 30, 1);
  EXPECT_THROW(chunks->flush(), Error);
  write_part(*chunks, 0, 0, 30, 20, 1);
  chunks->flush();
  EXPECT_EQ(read(*chunks, 0, 0), all_of(1));
  EXPECT_EQ(chunks->size(), 0U);
}

TEST_F(Chunks, that_cannot_be_stored_are_stored_by_the_next_flush) {
  store::HinderedStore failing(store_);
  const auto chunks = open(failing);
  for (unsigned i = 0; i < 30; ++i) write(*chunks, i, i, all_of(i));
  failing.left = 5;
  EXPECT_THROW(chunks->flush(), Error);
  EXPECT_GT(chunks->size(), 0U);
  for (unsigned i = 0; i < 30; ++i) EXPECT_EQ(read(*chunks, i, i), all_of(i));
  failing.left = ~0U;
  chunks->flush();
  EXPECT_EQ(chunks->size(), 0U);
  for (unsigned i = 0; i < 30; ++i) EXPECT_EQ(read(*open(store_), i, i), all_of(i));
}

TEST_F(Chunks, that_are_small_are_stored_by_few_puts_but_those_written_in_part) {
  constexpr unsigned kCount = 5000;
  store::HinderedStore counting(store_);
  const auto chunks = open(counting);
  for (Number i = 0; i < kCount; ++i) write(*chunks, i, 0, all_of(i));
  write(*chunks, 7, 1, all_of(7));
  write_part(*chunks, 7, 2, 0, 1, 9);
  const unsigned before = counting.left;
  chunks->flush();
  EXPECT_LT(before - counting.left, 50U);
  EXPECT_EQ(chunks->size(), 0U);
  const auto again = open(store_);
  for (Number i = 0; i < kCount; ++i) EXPECT_EQ(read(*again, i, 0), all_of(i));
  EXPECT_EQ(read(*again, 7, 1), all_of(7));
  EXPECT_EQ(read(*again, 7, 2)[0], 9U);
  EXPECT_EQ(read(*again, 7, 2)[1], kFill);
}

TEST_F(Chunks, after_random_writes_of_two_are_what_a_map_has) {
  std::mt19937 random(4);
  std::array writers{open(store_), open(store_)};
  std::map<std::uint64_t, Values> expected;
  for (unsigned i = 0; i < 5000; ++i) {
    const std::uint64_t row = random() % 8;
    const std::size_t which = random() % 2;
    PendingChunks& chunks = *writers.at(which);
    // Each has half of the elements, or all of the chunks of its own rows.
    const bool is_own = row % 4 == which;
    Values& values = expected.try_emplace(row, all_of(kFill)).first->second;
    if (is_own && random() % 3 == 0) {
      write(chunks, row, row, all_of(i));
      values = all_of(i);
    } else if (is_own || row % 4 > 1) {
      const std::size_t begin = is_own ? 0 : which * (kElements / 2);
      const std::size_t end = is_own ? kElements : begin + kElements / 2;
      const std::size_t first = begin + random() % (end - begin);
      const std::size_t count = 1 + random() % (end - first);
      write_part(chunks, row, row, first, count, i);
      std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(first), count, i);
    }
    if (is_own) {
      ASSERT_EQ(read(chunks, row, row), values);
    }
    if (random() % 10 == 0) chunks.flush();
  }
  for (const auto& writer : writers) writer->flush();
  for (const auto& [row, values] : expected)
    EXPECT_EQ(read(*open(store_), row, row), values) << row;
}

std::vector<Coordinates> in_a_row(std::uint64_t count) {
  std::vector<Coordinates> all(count);
  for (std::uint64_t i = 0; i < count; ++i) all[i] = {i, 0};
  return all;
}

TEST_F(Chunks, that_are_read_together_come_in_order) {
  const auto chunks = open(store_);
  for (Number i = 0; i < 100; ++i) {
    if (i % 3 == 0) write(*chunks, i, 0, all_of(i));
    if (i % 3 == 1) write_part(*chunks, i, 0, 0, kElements - 1, i);
    if (i == 50) chunks->flush();
  }
  std::vector<Coordinates> all = in_a_row(100);
  std::ranges::reverse(all);
  for (const std::size_t count : {0U, 1U, 100U}) {
    std::size_t next = 0;
    chunks->read_all(std::span(all).first(count), [&](std::size_t i, const std::byte* chunk) {
      EXPECT_EQ(i, next++);
      const Values expected = read(*chunks, all[i][0], 0);
      EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(expected)), std::span(chunk, kBytes)));
    });
    EXPECT_EQ(next, count);
  }
}

TEST_F(Chunks, that_are_read_together_throw_what_one_of_them_does) {
  const auto chunks = open(store_);
  for (Number i = 0; i < 40; ++i) write(*chunks, i, 0, all_of(i));
  chunks->flush();
  const std::vector<Coordinates> all = in_a_row(40);
  EXPECT_THROW(chunks->read_all(all,
                                [](std::size_t i, const std::byte*) {
                                  if (i == 20) throw Error("enough");
                                }),
               Error);
  store_.put(std::vector{
      store::Change{"c/d/" + in_order(std::uint64_t{30}) + std::string(8, '\0'), bytes_of("x")}});
  std::size_t delivered = 0;
  EXPECT_THROW(chunks->read_all(all, [&](std::size_t, const std::byte*) { ++delivered; }), Error);
  EXPECT_EQ(delivered, 30U);
}

TEST_F(Chunks, that_are_pending_lose_what_is_cut_off) {
  const auto chunks = open(store_);
  write(*chunks, 0, 0, all_of(1));
  write(*chunks, 0, 1, all_of(2));
  write(*chunks, 1, 0, all_of(3));
  write_part(*chunks, 0, 2, 0, 20, 4);
  write_part(*chunks, 0, 3, 25, 5, 5);  // the elements 5 to 9 of the third row
  chunks->cut(1, {2, 40}, {{1, {2, 40}}});
  constexpr std::size_t kWithMarks = kBytes + kElements;
  EXPECT_GE(chunks->size(), 3 * kWithMarks);
  EXPECT_LT(chunks->size(), 7 * kWithMarks);
  Values left = all_of(kFill);
  const auto two_rows_of = [&](Number number) {
    std::fill_n(left.begin(), 20, number);
    return left;
  };
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(read(*chunks, 0, 0), two_rows_of(1));
    EXPECT_EQ(read(*chunks, 0, 1), two_rows_of(2));
    EXPECT_EQ(read(*chunks, 1, 0), all_of(kFill));
    EXPECT_EQ(read(*chunks, 0, 2), two_rows_of(4));
    EXPECT_EQ(read(*chunks, 0, 3), all_of(kFill));
    chunks->flush();
  }
  EXPECT_EQ(store_.list("", 10).size(), 3U);
}

TEST_F(Chunks, of_which_few_elements_are_pending_lose_those_that_are_cut_off) {
  constexpr std::size_t kSide = 1000;
  of_.chunk = {kSide, kSide};
  of_.chunk_bytes = kSide * kSide * sizeof(Number);
  const auto chunks = open(store_);
  for (const std::size_t row : {10U, 900U})
    for (const std::size_t column : {10U, 900U})
      write_part(*chunks, 0, 0, row * kSide + column, 2, 5);
  write_part(*chunks, 0, 0, 20 * kSide + 499, 2, 6);  // half of it
  write_part(*chunks, 1, 0, 0, 1, 7);
  write_part(*chunks, 0, 1, 0, 1, 8);
  chunks->cut(1, {500, 500}, {{1, {500, 500}}});
  std::vector<Number> expected(kSide * kSide, kFill);
  std::fill_n(expected.begin() + 10 * kSide + 10, 2, 5);
  expected[20 * kSide + 499] = 6;
  for (const bool stored : {false, true}) {
    if (stored) chunks->flush();
    std::vector<Number> chunk(kSide * kSide);
    chunks->read({0, 0}, std::as_writable_bytes(std::span(chunk)));
    EXPECT_EQ(chunk, expected);
  }
  EXPECT_EQ(store_.list("", 10).size(), 1U);
}

TEST_F(Chunks, that_another_has_cut_and_written_since_are_not_cut_again) {
  const auto late = open(store_);
  write_part(*late, 0, 0, 0, 1, 3);
  of_.epoch = 1;
  of_.cuts = {{1, {2, 10}}};
  const auto first = open(store_);
  write(*first, 0, 0, all_of(2));
  first->flush();
  late->flush();
  Values both = all_of(2);
  both[0] = 3;
  EXPECT_EQ(read(*first, 0, 0), both);
}

TEST_F(Chunks, that_are_cut_off_in_part_are_handed_out_without_that) {
  const Values stored = all_of(8);
  open(store_)->write_stored({0, 0}, 1, std::as_bytes(std::span(stored)));
  open(store_)->write_stored({1, 0}, 1, std::as_bytes(std::span(stored)));
  of_.epoch = 2;
  of_.cuts = {{2, {2, 10}}};
  const auto chunks = open(store_);
  const auto raw = chunks->read_stored({0, 0});
  ASSERT_TRUE(raw);
  if (!raw) return;
  Values expected = all_of(kFill);
  std::fill_n(expected.begin(), 20, 8);
  Values values{};
  codec_.decode(raw->left_out, raw->bytes.bytes(), std::as_writable_bytes(std::span(values)));
  EXPECT_EQ(values, expected);
  EXPECT_EQ(raw->left_out, 0U);  // stored again, by the codec
  EXPECT_FALSE(chunks->read_stored({1, 0}));
  EXPECT_FALSE(chunks->read_stored({2, 0}));
  EXPECT_EQ(chunks->list({100, 100}).size(), 1U);
}

TEST_F(Chunks, that_are_stored_as_they_are_take_the_place_of_pending_ones) {
  const auto chunks = open(store_);
  write_part(*chunks, 0, 0, 0, 10, 1);
  EXPECT_TRUE(chunks->read_stored({0, 0}));
  EXPECT_EQ(chunks->size(), 0U);
  write_part(*chunks, 0, 0, 0, 10, 2);
  const Values stored = all_of(3);
  chunks->write_stored({0, 0}, 1, std::as_bytes(std::span(stored)));
  EXPECT_EQ(chunks->size(), 0U);
  EXPECT_EQ(read(*chunks, 0, 0), all_of(3));
}

TEST_F(Chunks, that_are_listed_are_those_within_an_extent) {
  const auto chunks = open(store_);
  for (const char* const other : {"c/c/", "c/e/"})
    store_.put(std::vector{store::Change{other + std::string(16, 'x'), bytes_of("other")}});
  for (std::uint64_t i = 0; i < 2500; ++i) write(*chunks, i, i % 3, all_of(2 * (i % 2) + i % 2));
  const std::vector<StoredInfo> list = chunks->list({11'000, 15});
  std::size_t next = 0;
  for (std::uint64_t i = 0; i < 2200; ++i) {
    if (i % 3 == 2) continue;
    ASSERT_LT(next, list.size());
    EXPECT_EQ(list[next].at, (Coordinates{i, i % 3}));
    EXPECT_EQ(list[next].size, kBytes);
    EXPECT_EQ(list[next++].left_out, i % 2);
  }
  EXPECT_EQ(next, list.size());
  store_.put(std::vector{store::Change{"c/d/x", bytes_of("other")}});
  EXPECT_THROW(chunks->list({1, 1}), Error);
}

}  // namespace
}  // namespace headrace::objects

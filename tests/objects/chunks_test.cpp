#include "objects/chunks.hpp"

namespace headrace::objects {
namespace {

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

// A write that fails leaves nothing that the next one would take for its own.
TEST_F(Chunks, that_a_write_in_part_fails_on_are_as_before) {
  constexpr std::size_t kMany = 1000;
  of_.chunk = {1, kMany};
  of_.chunk_bytes = kMany * sizeof(Number);
  const auto chunks = open(store_);
  const auto fail = [&] {
    const PutElements put = [](std::byte* chunk, std::byte* written) {
      chunk[sizeof(Number)] = written[1] = std::byte{1};
      throw Error("there is no memory");
    };
    EXPECT_THROW(chunks->write_part({0, 0}, put, {0, 5, 5}), Error);
  };
  fail();
  EXPECT_EQ(chunks->size(), 0U);
  write_part(*chunks, 0, 0, 0, 1, 4);
  const std::size_t size = chunks->size();
  fail();
  EXPECT_EQ(chunks->size(), size);
  const PutElements more = [](std::byte* chunk, std::byte* written) {
    const Number number = 6;
    std::ranges::copy(std::as_bytes(std::span(&number, 1)), chunk + 2 * sizeof number);
    written[2] = std::byte{1};
  };
  chunks->write_part({0, 0}, more, {0, 5, 1});
  std::vector<Number> expected(kMany, kFill);
  expected[0] = 4;
  expected[2] = 6;
  for (const bool stored : {false, true}) {
    if (stored) chunks->flush();
    std::vector<Number> found(kMany);
    chunks->read({0, 0}, std::as_writable_bytes(std::span(found)));
    EXPECT_EQ(found, expected);
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

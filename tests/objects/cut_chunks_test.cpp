#include "objects/chunks.hpp"

namespace headrace::objects {
namespace {

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

}  // namespace
}  // namespace headrace::objects

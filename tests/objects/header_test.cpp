#include "objects/format/header.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "base/error.hpp"

namespace headrace::objects {
namespace {

Header extended(std::uint64_t rows, std::uint64_t epoch) {
  Header header;
  header.kind = Header::Kind::dataset;
  header.dims = {rows};
  header.max_dims = {100};
  header.epoch = epoch;
  return header;
}

TEST(HeaderFormat, keeps_all_of_a_dataset) {
  Header header = extended(10, 0);
  header.kept = true;
  header.chunk = {3};
  cut(header, {4});
  EXPECT_EQ(decode_header(encode(header)), header);
  header.chunk = {0};
  EXPECT_THROW(decode_header(encode(header)), Error);
}

// Elements that were cut off belong to the extent that was cut.
TEST(HeaderMerge, a_shrink_that_loses_leaves_the_epoch_of_what_stands) {
  std::vector<std::string> lost;
  const Header merged = merge(extended(10, 0), extended(3, 1), extended(20, 0), lost);
  EXPECT_EQ(merged.dims, extended(20, 0).dims);
  EXPECT_EQ(merged.epoch, 0U);
  EXPECT_EQ(lost.size(), 1U);
}

TEST(HeaderMerge, a_shrink_that_meets_nothing_has_its_epoch) {
  std::vector<std::string> lost;
  Header theirs = extended(10, 0);
  theirs.comment = "another";
  const Header merged = merge(extended(10, 0), extended(3, 1), theirs, lost);
  EXPECT_EQ(merged.dims, extended(3, 1).dims);
  EXPECT_EQ(merged.epoch, 1U);
  EXPECT_EQ(merged.comment, "another");
  EXPECT_TRUE(lost.empty());
}

TEST(HeaderMerge, links_are_added_up) {
  std::vector<std::string> lost;
  Header base = extended(1, 0);
  base.links = 3;
  Header mine = base;
  mine.links = 2;
  Header theirs = base;
  theirs.links = 5;
  EXPECT_EQ(merge(base, mine, theirs, lost).links, 4U);
}

TEST(HeaderMerge, cuts_belong_to_the_extent) {
  std::vector<std::string> lost;
  Header base = extended(10, 0);
  Header mine = base;
  cut(mine, {3});
  cut(mine, {8});
  Header theirs = base;
  theirs.comment = "another";
  Header merged = merge(base, mine, theirs, lost);
  EXPECT_EQ(merged.cuts, mine.cuts);
  EXPECT_EQ(merged.epoch, 1U);
  EXPECT_TRUE(lost.empty());
  cut(theirs, {5});
  merged = merge(base, mine, theirs, lost);
  EXPECT_EQ(merged.cuts, theirs.cuts);
  EXPECT_EQ(merged.dims, theirs.dims);
  EXPECT_EQ(lost.size(), 1U);
}

TEST(HeaderCuts, are_only_of_what_shrinks) {
  Header header = extended(10, 4);
  cut(header, {10});
  cut(header, {12});
  EXPECT_EQ(header.dims, std::vector<std::uint64_t>{12});
  EXPECT_EQ(header.epoch, 4U);
  EXPECT_TRUE(header.cuts.empty());
  cut(header, {3});
  EXPECT_EQ(header.dims, std::vector<std::uint64_t>{3});
  EXPECT_EQ(header.epoch, 5U);
  EXPECT_EQ(header.cuts, (std::vector<Cut>{{5, {3}}}));
}

TEST(HeaderCuts, are_lowered_by_later_ones_and_are_few) {
  Header header = extended(10, 0);
  for (const std::uint64_t rows : {5U, 20U, 8U, 30U, 9U}) cut(header, {rows});
  EXPECT_EQ(header.cuts, (std::vector<Cut>{{1, {5}}, {2, {8}}, {3, {9}}}));
  cut(header, {8});
  EXPECT_EQ(header.cuts, (std::vector<Cut>{{1, {5}}, {4, {8}}}));
  cut(header, {0});
  EXPECT_EQ(header.cuts, (std::vector<Cut>{{5, {0}}}));
}

TEST(HeaderCuts, of_two_dimensions_are_the_least_of_each) {
  Header header;
  header.kind = Header::Kind::dataset;
  header.dims = header.max_dims = {10, 10};
  cut(header, {5, 20});
  cut(header, {9, 10});
  EXPECT_EQ(header.cuts, (std::vector<Cut>{{1, {5, 10}}, {2, {9, 10}}}));
  EXPECT_EQ(decode_header(encode(header)), header);
  EXPECT_GT(header.size(), Header{}.size());
}

TEST(HeaderCuts, that_cannot_be_are_damage) {
  Header header = extended(10, 7);
  const auto is_damage = [&](std::vector<Cut> cuts) {
    header.cuts = std::move(cuts);
    return error_of([&] { decode_header(encode(header)); }) != nullptr;
  };
  EXPECT_FALSE(is_damage({{1, {5}}, {7, {5}}}));
  EXPECT_TRUE(is_damage({{0, {5}}}));
  EXPECT_TRUE(is_damage({{8, {5}}}));
  EXPECT_TRUE(is_damage({{2, {5}}, {2, {6}}}));
  EXPECT_TRUE(is_damage({{1, {5}}, {2, {4}}}));
}

}  // namespace
}  // namespace headrace::objects

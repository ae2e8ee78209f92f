#include "objects/format/header.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace headrace::objects

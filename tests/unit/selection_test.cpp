// Which unions of hyperslabs are looked at, by a stand-in for HDF5 that counts who asks for blocks.
#include "vol/dataset/selection.hpp"

#include <gtest/gtest.h>

namespace headrace::vol {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): HDF5's functions have no state
hsize_t blocks =
    0;  // each of `length` elements, in every second place of a dataset of one dimension
hsize_t length = 0;
int lists = 0;  // how often all blocks were asked for
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

class UnionOfBlocks : public testing::Test {
 protected:
  void SetUp() override {
    lists = 0;
    h5.Sselect_valid = [](hid_t) -> htri_t { return 1; };
    h5.Sget_select_type = [](hid_t) { return H5S_SEL_HYPERSLABS; };
    h5.Sget_select_npoints = [](hid_t) { return static_cast<hssize_t>(blocks * length); };
    h5.Sget_select_hyper_nblocks = [](hid_t) { return static_cast<hssize_t>(blocks); };
    h5.Sget_simple_extent_ndims = [](hid_t) { return 1; };
    h5.Sget_simple_extent_dims = [](hid_t, hsize_t dims[], hsize_t[]) {
      dims[0] = 2 * blocks * length;
      return 1;
    };
    h5.Sget_select_bounds = [](hid_t, hsize_t low[], hsize_t high[]) -> herr_t {
      low[0] = 0;
      high[0] = (2 * blocks - 1) * length - 1;
      return 0;
    };
    h5.Sget_select_hyper_blocklist = [](hid_t, hsize_t, hsize_t count, hsize_t list[]) -> herr_t {
      ++lists;
      for (hsize_t i = 0; i < count; ++i) {
        list[2 * i] = 2 * i * length;
        list[2 * i + 1] = (2 * i + 1) * length - 1;
      }
      return 0;
    };
  }
  void TearDown() override { h5 = Api(); }

  // How many runs are found, where blocks of less than `least` elements are not worth a look.
  static std::size_t found(hsize_t many, hsize_t of, std::uint64_t least) {
    blocks = many;
    length = of;
    Elements dataset;
    dataset.rank = 1;
    dataset.dims[0] = 2 * blocks * length;
    const auto runs = file_blocks_of(dataset, kPlist + 1, least);
    return runs ? runs->size() : 0;
  }
};

TEST_F(UnionOfBlocks, LongOnesAreLookedAt) {
  EXPECT_EQ(found(1000, 64, 64), 1000U);
  EXPECT_EQ(lists, 1);
}

TEST_F(UnionOfBlocks, ManyShortOnesAreNotAskedFor) {
  EXPECT_EQ(found(1000, 63, 64), 0U);
  EXPECT_EQ(lists, 0);
}

TEST_F(UnionOfBlocks, TooManyAreNotAskedFor) {
  EXPECT_EQ(found(1U << 16U, 64, 64), 1U << 16U);
  EXPECT_EQ(lists, 1);
  EXPECT_EQ(found((1U << 16U) + 1, 64, 64), 0U);
  EXPECT_EQ(lists, 1);
}

}  // namespace
}  // namespace headrace::vol

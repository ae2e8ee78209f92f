// Which unions of hyperslabs are looked at, by a stand-in for HDF5 that counts who asks for blocks.
#include "vol/dataset/selection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "vol/dataset/transfer.hpp"

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

struct Regular {
  std::vector<hsize_t> dims, stride, count, block;
};
Regular regular;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): as above

struct Found {
  std::uint64_t rows, extent;
  bool operator==(const Found&) const = default;
};

Found spread(const Regular& selected) {
  regular = selected;
  h5.Sget_select_type = [](hid_t) { return H5S_SEL_HYPERSLABS; };
  h5.Sis_regular_hyperslab = [](hid_t) -> htri_t { return 1; };
  h5.Sget_simple_extent_dims = [](hid_t, hsize_t dims[], hsize_t[]) {
    std::ranges::copy(regular.dims, dims);
    return static_cast<int>(regular.dims.size());
  };
  h5.Sget_regular_hyperslab = [](hid_t, hsize_t[], hsize_t stride[], hsize_t count[],
                                 hsize_t block[]) -> herr_t {
    std::ranges::copy(regular.stride, stride);
    std::ranges::copy(regular.count, count);
    std::ranges::copy(regular.block, block);
    return 0;
  };
  const auto found = spread_of(kPlist + 1);
  h5 = Api();
  return found ? Found{found->rows, found->extent} : Found{};
}

TEST(Spread, CountsRowsThatLieInOnePiece) {
  EXPECT_EQ(spread({{10}, {1}, {1}, {3}}), (Found{1, 3}));
  EXPECT_EQ(spread({{10}, {1}, {3}, {1}}), (Found{1, 3}));  // as h5py selects
  EXPECT_EQ(spread({{10}, {2}, {3}, {2}}), (Found{1, 6}));  // blocks that touch
  EXPECT_EQ(spread({{10}, {3}, {3}, {2}}), (Found{3, 8}));  // and some that do not
  EXPECT_EQ(spread({{9, 5}, {1, 1}, {1, 1}, {1, 3}}), (Found{1, 3}));
  EXPECT_EQ(spread({{9, 5}, {1, 1}, {4, 1}, {1, 5}}), (Found{1, 20}));
  EXPECT_EQ(spread({{9, 5}, {1, 1}, {1, 1}, {2, 4}}), (Found{2, 9}));
  EXPECT_EQ(spread({{9, 5}, {4, 1}, {2, 1}, {2, 5}}), (Found{2, 30}));
  EXPECT_EQ(spread({{9, 5, 4}, {7, 1, 1}, {1, 2, 4}, {1, 1, 1}}), (Found{1, 8}));
  EXPECT_EQ(spread({{9, 5, 4}, {1, 1, 1}, {2, 2, 4}, {1, 1, 1}}), (Found{2, 28}));
  EXPECT_EQ(spread({{9, 5, 4}, {1, 1, 2}, {2, 5, 2}, {1, 1, 1}}), (Found{20, 39}));
}

TEST(Spread, IsNotToldOfOthers) {
  EXPECT_FALSE(spread_of(kBlock));
  h5.Sget_select_type = [](hid_t) { return H5S_SEL_POINTS; };
  EXPECT_FALSE(spread_of(kPlist + 1));
  h5.Sget_select_type = [](hid_t) { return H5S_SEL_HYPERSLABS; };
  h5.Sis_regular_hyperslab = [](hid_t) -> htri_t { return 0; };
  EXPECT_FALSE(spread_of(kPlist + 1));
  h5 = Api();
}

TEST(ATransfer, AsksHDF5OnceWhatItSelects) {
  static int asked = 0;
  asked = 0;
  h5.Sget_select_type = [](hid_t) {
    ++asked;
    return H5S_SEL_NONE;
  };
  h5.Sget_simple_extent_ndims = [](hid_t) { return 1; };
  h5.Sget_simple_extent_dims = [](hid_t, hsize_t dims[], hsize_t[]) {
    dims[0] = 8;
    return 1;
  };
  Object dataset(nullptr, nullptr);
  const Transfer transfer(dataset, 0, kAll, kPlist + 1, 0);
  ASSERT_TRUE(transfer.spread().has_value());
  EXPECT_EQ(transfer.file_hyperslab(), nullptr);
  EXPECT_FALSE(transfer.is_scattered());
  const int once = asked;
  EXPECT_EQ(once, 3);
  // Nor does a transfer that is made of it ask again.
  const Transfer other = transfer.with_list(1);
  EXPECT_EQ(other.dxpl, 1);
  EXPECT_TRUE(other.spread().has_value());
  EXPECT_EQ(other.file_hyperslab(), nullptr);
  EXPECT_FALSE(other.is_scattered());
  EXPECT_EQ(asked, once);
  EXPECT_EQ(other.memory_hyperslab(), nullptr);  // of H5S_ALL there is none
  h5 = Api();
}

}  // namespace
}  // namespace headrace::vol

#include "vol/state.hpp"

#include <gtest/gtest.h>

namespace headrace::vol {
namespace {

struct OfFile {
  int value = 0;
};
struct OfDataset {
  int value = 0;
};

TEST(State, HasNothingAtFirst) {
  State state;
  EXPECT_TRUE(state.empty());
  EXPECT_EQ(state.find<OfFile>(), nullptr);
  state.get<OfFile>().value = 3;
  EXPECT_FALSE(state.empty());
  EXPECT_EQ(state.find<OfFile>()->value, 3);
}

TEST(State, IsFoundByItsTypeOnly) {
  const State state(std::make_shared<OfFile>(OfFile{7}));
  EXPECT_EQ(state.find<OfFile>()->value, 7);
  EXPECT_EQ(state.find<OfDataset>(), nullptr);
  EXPECT_EQ(state.share<OfDataset>(), nullptr);
  EXPECT_EQ(State(std::shared_ptr<OfFile>()).find<OfFile>(), nullptr);
}

TEST(State, IsSharedByCopies) {
  State state;
  state.get<OfFile>();
  const State copy = state;
  state.get<OfFile>().value = 5;
  EXPECT_EQ(copy.find<OfFile>()->value, 5);
  EXPECT_EQ(copy.share<OfFile>().use_count(), 3);
}

}  // namespace
}  // namespace headrace::vol

// A connector that watches all of its calls by hooks, and shadows none.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "conformance/exercise.hpp"
#include "conformance/fixture.hpp"
#include "vol/make_class.hpp"

namespace headrace::test {
namespace {

using vol::Callback;

struct Seen {
  std::vector<Callback> running;  // calls that have begun and not ended, the outer ones first
  std::uint64_t begun = 0;
  std::uint64_t failed = 0;
  std::uint64_t refused = 0;  // of those
  bool in_order = true;
  Callback refuses = Callback::count_;
};

Seen& seen() {
  static auto& seen = *new Seen;
  return seen;
}

struct Watching : vol::PassThrough<Watching> {
  static constexpr const char* kName = "watching";
  static constexpr H5VL_class_value_t kValue = 402;
  static constexpr std::array<Callback, 0> kOverrides{};

  struct During {
    bool begun = false;
    template <Callback callback>
    void begin(const vol::Arguments<callback>& /*args*/) {
      begun = true;
      ++seen().begun;
      seen().running.push_back(callback);
    }
    template <Callback callback, typename R>
    void end(const vol::Outcome<R>& outcome, const vol::Arguments<callback>& /*args*/) const {
      Seen& all = seen();
      all.in_order = all.in_order && begun && all.running.back() == callback;
      all.running.pop_back();
      all.failed += outcome.failed() ? 1 : 0;
      all.refused += outcome.refusal != nullptr ? 1 : 0;
    }
  };
  template <Callback callback>
  static void before(const vol::Arguments<callback>& /*args*/) {
    if (callback == seen().refuses) throw Error("refused by the hook");
  }
};

std::uint64_t counted() {
  const auto& counts = vol::Traits<Watching>::counts();
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& one) { return sum + one.load(); });
}

class Hooks : public testing::Test {
 protected:
  void SetUp() override {
    seen() = {};
    fapl_ = fapl_with(vol::class_of<Watching>());
    before_ = counted() - seen().begun;
  }
  void TearDown() override { H5Pclose(fapl_); }
  ScratchFolder folder_;
  hid_t fapl_ = H5I_INVALID_HID;
  std::uint64_t before_ = 0;
};

TEST_F(Hooks, SeeEveryCallWithItsEnd) {
  PrintedErrors errors;
  EXPECT_EQ(exercise(folder_.file("f.h5"), fapl_), 0);
  EXPECT_GT(seen().begun, 100U);
  EXPECT_EQ(seen().begun, counted() - before_);
  EXPECT_TRUE(seen().in_order);
  EXPECT_TRUE(seen().running.empty());
  EXPECT_EQ(seen().refused, 0U);
}

TEST_F(Hooks, SeeCallsThatFail) {
  PrintedErrors errors;
  EXPECT_LT(H5Fopen(folder_.file("missing.h5").c_str(), H5F_ACC_RDONLY, fapl_), 0);
  EXPECT_GE(seen().failed, 1U);
  EXPECT_EQ(seen().refused, 0U);
}

TEST_F(Hooks, SeeCallsThatBeforeRefuses) {
  PrintedErrors errors;
  const hid_t file = H5Fcreate(folder_.file("f.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl_);
  seen().refuses = Callback::group_create;
  EXPECT_LT(H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), 0);
  seen().refuses = Callback::count_;
  EXPECT_EQ(seen().refused, 1U);
  EXPECT_GE(seen().failed, 1U);
  EXPECT_TRUE(seen().in_order);
  EXPECT_TRUE(errors.contains("refused by the hook"));
  EXPECT_EQ(H5Lexists(file, "g", H5P_DEFAULT), 0);
  EXPECT_GE(H5Fclose(file), 0);
}

}  // namespace
}  // namespace headrace::test

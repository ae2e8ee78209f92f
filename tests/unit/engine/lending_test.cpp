#include "engine/threads/lending.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "engine/threads/thread_pool.hpp"

namespace headrace::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::size_t kSize = 100;
using Buffer = std::array<std::byte, kSize>;

TEST(Lending, OnlyWhatLiesWhollyInTheBufferIsBorrowed) {
  Buffer buffer{};
  const std::span<const std::byte> lent = std::span(buffer).subspan(10, 50);
  const Lending lending(lent);
  EXPECT_EQ(lending.completion(), nullptr);
  EXPECT_EQ(Lending::borrow(std::span(buffer).subspan(9, 10)), nullptr);
  EXPECT_EQ(Lending::borrow(std::span(buffer).subspan(59, 2)), nullptr);
  EXPECT_EQ(Lending::borrow(std::span(buffer).subspan(20, 0)), nullptr);
  const auto whole = Lending::borrow(lent);
  ASSERT_NE(whole, nullptr);
  EXPECT_EQ(Lending::borrow(lent.subspan(49, 1)), whole);
  EXPECT_EQ(lending.completion(), whole);
}

TEST(Lending, EndsWithItsScopeAndIsOfItsThread) {
  Buffer buffer{};
  {
    const Lending lending(buffer);
    std::thread([&] { EXPECT_EQ(Lending::borrow(buffer), nullptr); }).join();
  }
  EXPECT_EQ(Lending::borrow(buffer), nullptr);
}

TEST(Completion, IsDoneWhenAllPartsAre) {
  Completion completion;
  EXPECT_TRUE(completion.wait(nanoseconds::zero()));
  completion.begin();
  completion.begin();
  completion.end(nullptr);
  EXPECT_FALSE(completion.wait(nanoseconds::zero()));
  completion.end(nullptr);
  EXPECT_TRUE(completion.wait(nanoseconds::max()));
  EXPECT_EQ(completion.error(), nullptr);
}

TEST(Completion, KeepsTheFirstError) {
  Completion completion;
  completion.begin();
  completion.begin();
  completion.end(std::make_exception_ptr(std::runtime_error("first")));
  completion.end(std::make_exception_ptr(std::logic_error("second")));
  EXPECT_THROW(std::rethrow_exception(completion.error()), std::runtime_error);
}

TEST(Completion, ALimitedWaitEndsInTime) {
  Completion completion;
  completion.begin();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(completion.wait(milliseconds(20)));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(20));
  EXPECT_GE(completion.duration(), milliseconds(20));
  completion.end(nullptr);
}

TEST(Completion, WaitsForWorkers) {
  Completion completion;
  std::vector<int> done(64);
  for (int& one : done) {
    completion.begin();
    run_later([&] {
      one = 1;
      completion.end(nullptr);
    });
  }
  EXPECT_TRUE(completion.wait(nanoseconds::max()));
  EXPECT_EQ(std::count(done.begin(), done.end(), 1), 64);
}

}  // namespace
}  // namespace headrace::engine

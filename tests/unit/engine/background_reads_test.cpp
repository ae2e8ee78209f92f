#include "engine/reading/background_reads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <vector>

#include "base/error.hpp"
#include "support/waiting.hpp"

namespace headrace::engine {
namespace {

using namespace std::chrono_literals;
using test::Gate;
using test::kPatience;

// Each byte is its place; reads wait until they may go on.
struct GatedFile final : io::File {
  void write(std::uint64_t /*offset*/,
             std::span<const std::span<const std::byte>> /*pieces*/) override {}
  void read(std::uint64_t offset, std::span<std::byte> bytes) override {
    gate.pass();
    if (failing) throw Error("unreadable");
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(offset++);
  }
  void sync() override {}
  void resize(std::uint64_t /*size*/) override {}
  Gate gate{Gate::State::closed};
  std::atomic<bool> failing = false;
};

struct BackgroundReadsTest : ::testing::Test {
  std::shared_ptr<Completion> begun(std::uint64_t offset) {
    auto completion = std::make_shared<Completion>();
    completion->begin();
    reads.start(offset, bytes, completion);
    completion->end(nullptr);
    return completion;
  }

  GatedFile storage;
  std::vector<std::byte> bytes = std::vector<std::byte>(9 << 20);  // in several parts
  BackgroundReads reads{storage};
};

TEST_F(BackgroundReadsTest, FillWhatWasLent) {
  const auto completion = begun(77);
  EXPECT_FALSE(completion->wait(0ns));
  storage.gate.open();
  EXPECT_TRUE(completion->wait(kPatience));
  EXPECT_EQ(completion->error(), nullptr);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    ASSERT_EQ(bytes[i], static_cast<std::byte>(77 + i)) << i;
}

TEST_F(BackgroundReadsTest, WhoeverWritesThereWaits) {
  const auto completion = begun(1000);
  reads.wait_for(0, 1000);
  reads.wait_for(1000 + bytes.size(), 1);
  EXPECT_FALSE(completion->wait(0ns));
  auto read = std::async(std::launch::async, [&] {
    reads.wait_for(1000 + bytes.size() - 1, 1);
    return completion->wait(0ns);
  });
  test::wait_for_rest();
  EXPECT_EQ(read.wait_for(0s), std::future_status::timeout);
  storage.gate.open();
  EXPECT_TRUE(read.get());
}

TEST_F(BackgroundReadsTest, ErrorsAreTheRequests) {
  storage.failing = true;
  storage.gate.open();
  const auto completion = begun(0);
  EXPECT_TRUE(completion->wait(kPatience));
  EXPECT_NE(completion->error(), nullptr);
  reads.wait();
}

}  // namespace
}  // namespace headrace::engine

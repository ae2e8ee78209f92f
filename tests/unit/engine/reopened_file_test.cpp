#include "engine/io/reopened_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "unit/files.hpp"

namespace headrace::engine {
namespace {

constexpr std::size_t kFiles = 40;
constexpr rlim_t kMore = 12;  // descriptors that the process may have beside those it has

std::size_t descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all))) - 1;
}

// Few descriptors are left while it lives.
class FewLeft {
 public:
  explicit FewLeft(rlim_t more = kMore) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{descriptors() + more, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  FewLeft(const FewLeft&) = delete;
  FewLeft& operator=(const FewLeft&) = delete;
  ~FewLeft() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

class ReopenedFiles : public testing::Test {
 protected:
  ReopenedFiles() {
    for (std::size_t i = 0; i < kFiles; ++i) TestFile made(path(i));
  }
  [[nodiscard]] std::string path(std::size_t i) const { return folder_ / std::to_string(i); }
  [[nodiscard]] std::vector<std::unique_ptr<io::ReopenedFile>> open() const {
    std::vector<std::unique_ptr<io::ReopenedFile>> all;
    all.reserve(kFiles);
    for (std::size_t i = 0; i < kFiles; ++i)
      all.push_back(std::make_unique<io::ReopenedFile>(path(i), true));
    return all;
  }

 private:
  TestFolder folder_;
};

std::string byte(std::size_t value) { return {static_cast<char>(value)}; }

TEST_F(ReopenedFiles, AreMoreThanTheProcessMayHave) {
  const FewLeft few;
  const std::size_t before = descriptors();
  auto all = open();
  for (std::size_t round = 0; round < 3; ++round)
    for (std::size_t i = 0; i < kFiles; ++i) write(*all[i], round, {byte(i)});
  EXPECT_LE(descriptors(), before + kMore - 3) << "some are left for others";
  for (std::size_t i = 0; i < kFiles; ++i) {
    EXPECT_EQ(read(*all[i], 2, 1), byte(i));
    all[i]->sync();
    all[i]->close();
    EXPECT_EQ(content(path(i)), byte(i) + byte(i) + byte(i));
  }
  all.clear();
  EXPECT_EQ(descriptors(), before);
}

TEST_F(ReopenedFiles, MayBeOpenedWhenTheyAreReadFirst) {
  const FewLeft few;
  const std::size_t before = descriptors();
  std::vector<std::unique_ptr<io::ReopenedFile>> all;
  for (std::size_t i = 0; i < kFiles; ++i) {
    write(*io::posix_file(path(i).c_str()), 0, {byte(i)});
    all.push_back(std::make_unique<io::ReopenedFile>(path(i)));
  }
  EXPECT_EQ(descriptors(), before);
  for (std::size_t round = 0; round < 3; ++round)
    for (std::size_t i = 0; i < kFiles; ++i) EXPECT_EQ(read(*all[i], 0, 1), byte(i));
  EXPECT_LE(descriptors(), before + kMore - 3) << "some are left for others";
  EXPECT_THROW(write(*all[0], 0, {"x"}), Error);
  std::filesystem::remove(path(1));
  EXPECT_THROW(read(*all[1], 0, 1), Error) << "it was closed for others";
}

TEST_F(ReopenedFiles, LeaveHalfOfAllToTheProgram) {
  const FewLeft few(kFiles);
  const std::size_t before = descriptors();
  std::vector<std::unique_ptr<io::ReopenedFile>> all;
  for (std::size_t i = 0; i < kFiles; ++i) {
    all.push_back(std::make_unique<io::ReopenedFile>(path(i)));
    EXPECT_EQ(read(*all[i], 0, 1).size(), 1U);
  }
  EXPECT_LE(descriptors() - before, (before + kFiles) / 2);
}

TEST_F(ReopenedFiles, AreFoundAgainFromAnotherFolder) {
  const auto home = std::filesystem::current_path();
  std::filesystem::current_path(std::filesystem::path(path(0)).parent_path());
  const FewLeft few;
  io::ReopenedFile first("0", true);
  std::filesystem::current_path("/");
  const auto others = open();
  std::filesystem::current_path(home);
  write(first, 0, {"x"});
  EXPECT_EQ(content(path(0)), "x");
}

TEST_F(ReopenedFiles, AreNoOtherFileOfTheName) {
  const FewLeft few;
  auto all = open();
  for (auto& each : all) write(*each, 0, {"x"});  // the first are closed by now
  std::filesystem::remove(path(0));
  {
    TestFile made(path(0));
  }
  EXPECT_THROW(write(*all[0], 0, {"y"}), Error);
  EXPECT_EQ(content(path(0)), "");
}

TEST_F(ReopenedFiles, AreNotClosedWhileTheyAreUsed) {
  const FewLeft few;
  auto all = open();
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (std::size_t first = 0; first < 4; ++first)
    threads.emplace_back([&all, first] {
      for (std::size_t round = 0; round < 50; ++round)
        for (std::size_t i = first; i < kFiles; i += 4) {
          write(*all[i], round, {byte(round)});
          EXPECT_EQ(read(*all[i], round, 1), byte(round));
        }
    });
  for (std::thread& each : threads) each.join();
}

TEST_F(ReopenedFiles, SayWhatCannotBeDone) {
  EXPECT_THROW(io::ReopenedFile(path(kFiles), false), Error);
  io::ReopenedFile read_only(path(0), false);
  EXPECT_THROW(write(read_only, 0, {"a"}), Error);
}

}  // namespace
}  // namespace headrace::engine

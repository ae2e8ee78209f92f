// The fault driver's storage: which requests of threads are hit, and what a power cut leaves of
// them.
#include "layers/fault/driver/faulty_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <functional>
#include <optional>
#include <set>

#include "unit/files.hpp"

namespace {

// What threads do instead of sleeping, unless it is empty.
std::function<void(std::chrono::nanoseconds)> in_place_of_sleep;

}  // namespace

// In place of the C library's.
extern "C" [[gnu::visibility("default")]] int nanosleep(const timespec* time, timespec* left) {
  if (in_place_of_sleep) {
    in_place_of_sleep(std::chrono::seconds(time->tv_sec) + std::chrono::nanoseconds(time->tv_nsec));
    return 0;
  }
  errno = ::clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);
  return errno == 0 ? 0 : -1;
}

namespace headrace::fault {
namespace {

constexpr int kThreads = 4;
constexpr unsigned kForWriting = 1;

// Opened as the driver opens it.
struct Opened {
  Opened(const TestFile& test_file, const Options& options) : plan(options) {
    attach(&file.pub, plan, test_file.path.c_str(), kForWriting, vfd::Over::sec2);
  }
  Plan plan;
  File file{};
};

class FaultyFile : public testing::Test {
 protected:
  // Only one at a time.
  std::unique_ptr<engine::io::File> storage(Options options,
                                            std::unique_ptr<engine::io::File> under = nullptr) {
    options.emplace("journal", folder / "journal");
    opened.emplace(file, options);
    return faulty(opened->file, under == nullptr ? file.storage() : std::move(under));
  }
  std::size_t in_journal(std::string_view text) const {
    const std::string journal = content(folder / "journal");
    std::size_t count = 0;
    for (std::size_t at = journal.find(text); at != std::string::npos;
         at = journal.find(text, at + 1))
      ++count;
    return count;
  }

  TestFolder folder;
  TestFile file{folder / "x.h5"};
  std::optional<Opened> opened;
};

// The errno it fails with; 0 when it does not.
template <typename Action>
int error_of(Action action) {
  try {
    action();
    return 0;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("x.h5"), std::string::npos) << error.what();
    return error.error_number();
  }
}

TEST_F(FaultyFile, HitsTheNthOperation) {
  const auto it = storage({{"kind", "error"}, {"op", "any"}, {"first", "3"}, {"errno", "ENOSPC"}});
  std::vector<int> errors;
  for (const std::uint64_t offset : {0U, 1U, 2U, 3U})
    errors.push_back(error_of([&] { write(*it, offset, {"x"}); }));
  EXPECT_EQ(errors, (std::vector{0, 0, ENOSPC, 0}));
  EXPECT_EQ(content(file.path), std::string("xx\0x", 4));
  EXPECT_EQ(in_journal(R"("number":3)"), 1U);
  EXPECT_EQ(in_journal(R"("type":"unknown","offset":2,"length":1)"), 1U);
}

TEST_F(FaultyFile, HitsEachKindOfOperation) {
  for (const char* op : {"read", "write", "flush", "truncate"}) {
    const auto it = storage({{"kind", "error"}, {"op", op}});
    const std::vector<int> errors{error_of([&] { read(*it, 0, 1); }),
                                  error_of([&] { write(*it, 0, {"x"}); }),
                                  error_of([&] { it->sync(); }), error_of([&] { it->resize(0); })};
    const std::vector<std::string_view> ops{"read", "write", "flush", "truncate"};
    for (std::size_t i = 0; i < ops.size(); ++i) EXPECT_EQ(errors[i], ops[i] == op ? EIO : 0);
  }
}

TEST_F(FaultyFile, DataOfUnknownKindIsNeither) {
  for (const char* type : {"raw", "metadata"}) {
    const auto it = storage({{"kind", "error"}, {"type", type}});
    EXPECT_EQ(error_of([&] { write(*it, 0, {"x"}); }), 0);
  }
}

TEST_F(FaultyFile, CountsWithTheDriversOwnOperations) {
  const auto it = storage({{"kind", "error"}, {"first", "3"}});
  write(*it, 0, {"x"});
  ASSERT_TRUE(opened);
  EXPECT_TRUE(inject(opened->plan, opened->file.transfer(Op::write, H5FD_MEM_DRAW, 0, 1)).ok());
  EXPECT_EQ(error_of([&] { write(*it, 0, {"x"}); }), EIO);
}

TEST_F(FaultyFile, HitsAsManyInThreads) {
  const auto it = storage({{"kind", "error"}, {"first", "51"}, {"count", "100"}});
  std::atomic<int> failed = 0;
  const auto place = [](int thread, int i) { return static_cast<std::uint64_t>(thread) * 100 + i; };
  in_threads(kThreads + 1, [&](int thread) {
    for (int i = 0; i < 100; ++i)
      if (thread < kThreads)
        failed += static_cast<int>(0 != error_of([&] { write(*it, place(thread, i), {"x"}); }));
      else  // the application's thread, in the driver
        failed += static_cast<int>(
            !inject(opened->plan, opened->file.transfer(Op::write, H5FD_MEM_DRAW, 0, 1)).ok());
  });
  EXPECT_EQ(failed, 100);
  for (int number = 51; number <= 150; ++number)
    EXPECT_EQ(in_journal("\"number\":" + std::to_string(number) + ","), 1U) << number;
}

TEST_F(FaultyFile, WritesAPart) {
  const auto it = storage({{"kind", "short"}, {"errno", "EFBIG"}});
  EXPECT_EQ(error_of([&] { write(*it, 1, {"abc", "defgh", "ijkl"}); }), EFBIG);
  EXPECT_EQ(content(file.path), std::string("\0abcdef", 7));
  EXPECT_EQ(in_journal(R"("transferred":6)"), 1U);
}

TEST_F(FaultyFile, ReadsAPart) {
  write(*file.storage(), 0, {"abcdefgh"});
  const auto it = storage({{"kind", "short"}, {"op", "read"}, {"part", "25"}});
  std::string text(8, '?');
  const auto bytes = std::as_writable_bytes(std::span(text));
  EXPECT_EQ(error_of([&] { it->read(0, bytes); }), EIO);
  EXPECT_EQ(text, "ab??????");
}

TEST_F(FaultyFile, OthersGoOnDuringADelay) {
  const auto it = storage({{"kind", "delay"}, {"delay", "100ms"}, {"count", "0"}});
  Meeting meeting(8);
  std::atomic<int> met = 0;
  in_place_of_sleep = [&](std::chrono::nanoseconds time) {
    EXPECT_EQ(time, std::chrono::milliseconds(100));
    met += static_cast<int>(meeting.wait());
  };
  in_threads(8, [&](int thread) { write(*it, static_cast<std::uint64_t>(thread), {"x"}); });
  in_place_of_sleep = nullptr;
  EXPECT_EQ(met, 8) << "all are delayed at one time";
}

TEST_F(FaultyFile, IsNullOverNothing) {
  opened.emplace(file, Options{});
  EXPECT_EQ(faulty(opened->file, nullptr), nullptr);
}

// After a power cut all operations of a process fail, so each is in a process of its own.
class FaultyFileDeathTest : public FaultyFile {
 protected:
  FaultyFileDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

Options cut_by(const char* op, const char* then) {
  return {{"kind", "power_cut"}, {"op", op}, {"then", then}};
}

TEST_F(FaultyFileDeathTest, TheProcessEndsAndTheFileIsAsSynced) {
  const auto program = [&] {
    const auto it = storage(cut_by("truncate", "exit"));
    write(*it, 0, {"syn", "ced"});
    it->sync();
    write(*it, 2, {"lost"});
    write(*it, 8, {"lost, too"});
    it->resize(3);
  };
  EXPECT_EXIT(program(), testing::KilledBySignal(SIGKILL), "");
  EXPECT_EQ(content(file.path), "synced");
  EXPECT_EQ(in_journal(R"("changes":3)"), 1U);
}

TEST_F(FaultyFileDeathTest, EachWriteOfAllItsPiecesIsOneChange) {
  const auto program = [&] {
    Options options = cut_by("truncate", "exit");
    options.emplace("outcome", "torn");
    const auto it = storage(options);
    write(*it, 0, {"ab", "", "cd"});
    it->resize(1000);
  };
  std::set<std::string> seen;
  EXPECT_EXIT(program(), testing::KilledBySignal(SIGKILL), "");
  EXPECT_TRUE((std::set<std::string>{"", "abcd", "abcd" + std::string(996, '\0')})
                  .contains(content(file.path)));
  EXPECT_EQ(in_journal(R"("changes":2)"), 1U);
}

// What threads had begun to write before a cut must not come after it.
TEST_F(FaultyFileDeathTest, ACutWaitsForWhatHasBegun) {
  constexpr int kCutters = 3;
  const auto place = [](int thread) { return static_cast<std::uint64_t>(thread); };
  const auto program = [&] {
    test::Gate gate;
    std::atomic<int> begun = 0;
    const auto below = [&] {
      ++begun;
      gate.pass();
    };
    Options options = cut_by("write", "error");
    options.emplace("first", std::to_string(kThreads + 2));
    options.emplace("count", "0");
    const auto it = storage(options, std::make_unique<Before>(file.storage(), below));
    write(*it, 0, {"aaaa"});
    it->sync();
    gate.close();
    begun = 0;
    std::atomic<int> written = 0;
    std::atomic<int> refused = 0;
    const auto write_once = [&](int thread) {
      (error_of([&] { write(*it, place(thread), {"b"}); }) == 0 ? written : refused)++;
    };
    std::vector<std::jthread> threads;
    threads.reserve(kThreads + kCutters);
    for (int i = 0; i < kThreads; ++i) threads.emplace_back(write_once, i);
    test::wait_until("all had begun", [&] { return begun == kThreads; });
    for (int i = 0; i < kCutters; ++i) threads.emplace_back(write_once, i);
    test::wait_for_rest();
    EXPECT_EQ(refused, 0);
    gate.open();
    threads.clear();
    EXPECT_EQ(written, kThreads);
    EXPECT_EQ(refused, kCutters);
    std::_Exit(testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(0), "");
  EXPECT_EQ(content(file.path), "aaaa");
  EXPECT_EQ(in_journal("power_cut"), 1U);
  EXPECT_EQ(in_journal("failed"), 0U);
}

// Threads write at the moment of the cut.
TEST_F(FaultyFileDeathTest, NothingIsWrittenAfterACut) {
  constexpr std::uint64_t kRegion = 64;
  const auto program = [&] {
    const auto slow = [] { std::this_thread::yield(); };
    Options options = cut_by("write", "error");
    options.emplace("first", "61");
    options.emplace("count", "3");  // of which the others come to a dark disk
    const auto it = storage(options, std::make_unique<Before>(file.storage(), slow));
    const auto region = [&](int thread) { return static_cast<std::uint64_t>(thread) * kRegion; };
    in_threads(kThreads,
               [&](int thread) { write(*it, region(thread), {std::string(kRegion, 'a')}); });
    it->sync();
    std::atomic<int> dark = 0;
    in_threads(kThreads, [&](int thread) {
      for (int i = 0; i < 100 && dark < kThreads; ++i) {
        const std::uint64_t offset = region(thread) + static_cast<std::uint64_t>(i % 60);
        if (error_of([&] { write(*it, offset, {"b", "b"}); }) == 0) continue;
        EXPECT_EQ(error_of([&] { write(*it, offset, {"c"}); }), EIO);
        ++dark;
        break;
      }
    });
    EXPECT_EQ(dark, kThreads);
    EXPECT_EQ(error_of([&] { it->sync(); }), EIO);
    std::_Exit(testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(0), "");
  EXPECT_EQ(content(file.path), std::string(kThreads * kRegion, 'a'));
  EXPECT_EQ(in_journal("power_cut"), 1U);
  EXPECT_EQ(in_journal("failed"), 0U);
}

// A sync makes safe what was written before it, not what is written while it goes on.
TEST_F(FaultyFileDeathTest, AWriteDuringASyncIsNotSafe) {
  const auto program = [&] {
    Meeting begun(2);
    Meeting written(2);
    std::atomic<bool> syncing = false;
    const auto hold = [&] {
      if (!syncing.exchange(false)) return;
      begun.wait();
      written.wait();
    };
    const auto it =
        storage(cut_by("truncate", "exit"), std::make_unique<Before>(file.storage(), hold));
    write(*it, 0, {"safe"});
    syncing = true;
    in_threads(2, [&](int thread) {
      if (thread == 0) return it->sync();
      begun.wait();
      write(*it, 4, {" lost"});
      written.wait();
    });
    it->resize(0);
  };
  EXPECT_EXIT(program(), testing::KilledBySignal(SIGKILL), "");
  EXPECT_EQ(content(file.path), "safe");
}

}  // namespace
}  // namespace headrace::fault

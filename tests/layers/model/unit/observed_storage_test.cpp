// The model driver's storage: what it records of requests that threads make at the same time, and
// how long they take.
#include "vfd/observed_storage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <ctime>
#include <functional>
#include <set>

#include "hdf5/api.hpp"
#include "layers/model/driver/recorder.hpp"
#include "model/ledger.hpp"
#include "unit/files.hpp"

namespace {

thread_local std::int64_t delayed_until = 0;  // by the clock of delays, in nanoseconds
std::function<void()> while_delayed;          // empty: nothing

}  // namespace

// In place of the C library's: how long a delay is depends on the model, not on the machine. So
// it is noted, and not waited for.
extern "C" [[gnu::visibility("default")]] int clock_nanosleep(clockid_t clock, int flags,
                                                              const timespec* time,
                                                              timespec* /*left*/) {
  EXPECT_EQ(clock, CLOCK_MONOTONIC);
  EXPECT_EQ(flags, TIMER_ABSTIME);
  delayed_until = time->tv_sec * 1'000'000'000 + time->tv_nsec;
  if (while_delayed) while_delayed();
  return 0;
}

namespace headrace::model {
namespace {

constexpr int kThreads = 4;
constexpr int kRequests = 250;
constexpr std::uint64_t kBlock = 16;
constexpr std::uint64_t kEach = std::uint64_t{kThreads} * kRequests;  // requests of a kind

class ObservedStorage : public testing::Test {
 protected:
  std::unique_ptr<Recorder> recorder(Options options) {
    options.emplace("preset", "none");
    options.emplace("summary", folder / "summary");
    options.emplace("ledger", folder / "ledgers");
    return std::make_unique<Recorder>(configuration(options), file.path.c_str(), Rank{});
  }
  Ledger ledger() const {
    return read_ledger(std::filesystem::directory_iterator(folder / "ledgers")->path());
  }

  TestFolder folder;
  TestFile file{folder / "x.h5"};
};

// As a callback of the driver does it, of metadata.
void superblock(Recorder& recorder) {
  Recorder::Call call(recorder, Kind::write, false);
  call.piece(H5FD_MEM_SUPER, 0, 8, 8);
  call.start();
  call.end(true);
}

void work_in_threads(Recorder& recorder, engine::io::File& storage) {
  const auto work = [&](int thread) {
    for (int i = 0; i < kRequests; ++i) {
      const std::uint64_t offset = static_cast<std::uint64_t>(i * kThreads + thread) * kBlock;
      const std::string text(kBlock / 2, static_cast<char>('a' + thread));
      write(storage, offset, {text, text});
      EXPECT_EQ(read(storage, offset, kBlock), text + text);
    }
    storage.sync();
    storage.resize(kEach * kBlock);
  };
  in_threads(kThreads + 1, [&](int thread) {
    if (thread < kThreads) return work(thread);
    for (int i = 0; i < kRequests; ++i) superblock(recorder);
  });
}

TEST_F(ObservedStorage, CountsWhatThreadsDo) {
  auto its = recorder({{"mode", "predict"}});
  work_in_threads(*its, *vfd::observed(*its, file.storage()));
  its.reset();
  const std::string summary = content(folder / "summary");
  constexpr std::uint64_t kSuperblocks = std::uint64_t{8} * kRequests;  // bytes
  const auto has = [&](const std::string& text) {
    EXPECT_NE(summary.find(text), std::string::npos) << text << " in " << summary;
  };
  has(R"("reads":{"requests":)" + std::to_string(kEach) + R"(,"bytes":)" +
      std::to_string(kEach * kBlock));
  has(R"("writes":{"requests":)" + std::to_string(kEach + kRequests) + R"(,"bytes":)" +
      std::to_string(kEach * kBlock + kSuperblocks));
  has(R"("metadata_requests":)" + std::to_string(kRequests) + R"(,"metadata_bytes":)" +
      std::to_string(kSuperblocks));
  has(R"("flushes":4,"truncates":4)");
  has(R"("predicted":)");
}

TEST_F(ObservedStorage, WritesEachRequestToTheLedgerOnce) {
  auto its = recorder({});
  work_in_threads(*its, *vfd::observed(*its, file.storage()));
  its.reset();
  const Ledger found = ledger();
  EXPECT_TRUE(found.closed);
  std::set<std::uint32_t> calls;
  std::set<std::pair<Kind, std::uint64_t>> requests;
  for (const Record& record : found.records) {
    calls.insert(record.call);
    if (record.kind > Kind::write || record.has(kMetadata)) continue;
    EXPECT_EQ(record.length, kBlock);
    EXPECT_EQ(record.type, H5FD_MEM_DEFAULT) << "what kind of data it is nobody knows";
    EXPECT_EQ(record.flags, 0);
    EXPECT_GT(record.duration, 0U);
    requests.emplace(record.kind, record.offset);
  }
  EXPECT_EQ(requests.size(), 2 * kEach);
  EXPECT_EQ(found.records.size(), requests.size() + kRequests + std::size_t{2} * kThreads);
  EXPECT_EQ(calls.size(), found.records.size());
  EXPECT_EQ(*calls.begin(), 1U);
  EXPECT_EQ(*calls.rbegin(), found.records.size());
}

TEST_F(ObservedStorage, RequestsAreBelowAtTheSameTime) {
  Meeting meeting(3);
  std::atomic<int> met = 0;
  auto its = recorder({});
  const auto wait = [&] { met += static_cast<int>(meeting.wait()); };
  const auto storage = vfd::observed(*its, std::make_unique<Before>(file.storage(), wait));
  in_threads(3, [&](int thread) {
    if (thread < 2) return write(*storage, static_cast<std::uint64_t>(thread), {"x"});
    Recorder::Call call(*its, Kind::read, false);  // the application's thread, in the driver
    call.start();
    wait();
    call.end(true);
  });
  EXPECT_EQ(met, 3);
}

// Eight servers, each with stripes of a block. Requests take longer than any machine needs to make
// them.
class ModelDelay : public ObservedStorage {
 protected:
  static constexpr std::int64_t kLatency = 60'000'000'000;  // nanoseconds
  ModelDelay()
      : its_(recorder({{"mode", "delay"},
                       {"servers", "8"},
                       {"stripe_count", "8"},
                       {"stripe_size", "16"},
                       {"latency", "60s"},
                       {"shared", folder / "queues"}})),  // in which nothing waits yet
        storage_(vfd::observed(*its_, file.storage())) {}
  void TearDown() override { while_delayed = nullptr; }

  // Writes; returns when the model says that it is done.
  std::int64_t written(std::uint64_t offset, const std::vector<std::string_view>& texts = {"x"}) {
    delayed_until = 0;
    write(*storage_, offset, texts);
    return delayed_until;
  }
  // Whether the server had nothing else to do: the request was made in this test.
  [[nodiscard]] bool took_one_latency(std::int64_t until) const {
    return until - kLatency >= begin_ && until - kLatency <= clock_now();
  }

 private:
  std::unique_ptr<Recorder> its_;
  std::unique_ptr<engine::io::File> storage_;
  std::int64_t begin_ = clock_now();
};

TEST_F(ModelDelay, OverlapsOnServersOfTheirOwn) {
  Meeting meeting(8);
  std::atomic<int> met = 0;
  while_delayed = [&] { met += static_cast<int>(meeting.wait()); };
  in_threads(8, [&](int thread) {
    EXPECT_TRUE(took_one_latency(written(static_cast<std::uint64_t>(thread) * kBlock)));
  });
  EXPECT_EQ(met, 8) << "all are delayed at one time";
}

TEST_F(ModelDelay, OfABusyServerIsForWhoWantsItAndNobodyElse) {
  std::array<std::int64_t, 5> until{};
  in_threads(6, [&](int thread) {
    if (thread == 5)
      EXPECT_TRUE(took_one_latency(written(kBlock)));
    else
      until.at(static_cast<std::size_t>(thread)) = written(static_cast<std::uint64_t>(thread));
  });
  std::ranges::sort(until);
  EXPECT_TRUE(took_one_latency(until[0]));
  for (std::size_t i = 1; i < until.size(); ++i) EXPECT_EQ(until[i] - until[i - 1], kLatency) << i;
}

TEST_F(ModelDelay, OfARequestOverSeveralServersIsThatOfOne) {
  const std::string half(4 * kBlock, 'x');
  EXPECT_TRUE(took_one_latency(written(0, {half, half})));
}

TEST_F(ObservedStorage, ErrorsPassAndAreNotCounted) {
  auto its = recorder({});
  const auto refuse = [] { throw Error("no space on file x.h5", ENOSPC); };
  const auto storage = vfd::observed(*its, std::make_unique<Before>(file.storage(), refuse));
  try {
    write(*storage, 0, {"x"});
    ADD_FAILURE() << "it succeeded";
  } catch (const Error& error) {
    EXPECT_EQ(error.error_number(), ENOSPC);
  }
  superblock(*its);
  its.reset();
  ASSERT_EQ(ledger().records.size(), 1U);
  EXPECT_EQ(ledger().records[0].call, 2U);
}

TEST_F(ObservedStorage, IsNullOverNothing) {
  EXPECT_EQ(vfd::observed(*recorder({}), nullptr), nullptr);
}

}  // namespace
}  // namespace headrace::model

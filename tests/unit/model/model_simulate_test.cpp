#include <gtest/gtest.h>

#include <random>

#include "base/error.hpp"
#include "model/simulate.hpp"

namespace headrace::model {
namespace {

constexpr double kTiny = 1e-9;

// Stripes of 100 bytes; 1 s a piece and 1 s for 100 bytes.
Parameters simple(std::uint32_t servers) {
  Parameters parameters;
  parameters.servers = servers;
  parameters.stripe_size = 100;
  parameters.latency = parameters.read_latency = 1;
  parameters.bandwidth = parameters.read_bandwidth = 100;
  return parameters;
}

Request write(std::uint64_t offset, std::uint64_t length, std::uint32_t collective = 0) {
  return {offset, length, length, 0, collective, Kind::write, false, false};
}

Workload workload(std::vector<Trace> traces) {
  Workload made;
  made.spans = {0};
  for (const Trace& trace : traces)
    for (const Request& request : trace) {
      made.spans[0] = std::max(made.spans[0], request.offset + request.span);
      made.collectives = std::max(made.collectives, request.collective);
    }
  made.traces = std::move(traces);
  return made;
}

TEST(Simulate, OneStreamOnOneServer) {
  const Result result = simulate(workload({{write(0, 100), write(100, 100)}}), simple(1), {});
  EXPECT_NEAR(result.seconds, 4, kTiny);
  EXPECT_EQ(result.bytes, 200U);
  EXPECT_EQ(result.requests, 2U);
  EXPECT_NEAR(result.efficiency, 0.5, kTiny);
  EXPECT_NEAR(result.busiest_server, 4, kTiny);
}

TEST(Simulate, ServersWorkAtTheSameTime) {
  EXPECT_NEAR(simulate(workload({{write(0, 400)}}), simple(1), {}).seconds, 8, kTiny);
  EXPECT_NEAR(simulate(workload({{write(0, 400)}}), simple(2), {}).seconds, 4, kTiny);
  EXPECT_NEAR(simulate(workload({{write(0, 100)}, {write(100, 100)}}), simple(2), {2}).seconds, 2,
              kTiny);
  Parameters narrow = simple(4);
  narrow.stripe_count = 1;
  EXPECT_NEAR(simulate(workload({{write(0, 400)}}), narrow, {}).seconds, 8, kTiny);
}

// Two clients write the two halves of one stripe in turn: each write but the first revokes.
TEST(Simulate, PingPong) {
  Parameters parameters = simple(1);
  parameters.revocation = 10;
  const Workload both = workload({{write(0, 50), write(0, 50)}, {write(50, 50), write(50, 50)}});
  const Result result = simulate(both, parameters, {2});
  EXPECT_EQ(result.revocations, 3U);
  EXPECT_NEAR(result.seconds, 4 * 1.5 + 3 * 10, kTiny);
  parameters.stripe_size = 50;
  EXPECT_EQ(simulate(both, parameters, {2}).revocations, 0U);
}

TEST(Simulate, ClientsAreLimitedByTheirNetworks) {
  Parameters parameters = simple(4);
  parameters.client_bandwidth = 10;
  EXPECT_NEAR(simulate(workload({{write(0, 400)}}), parameters, {}).seconds, 40, kTiny);
  const Workload two = workload({{write(0, 200)}, {write(200, 200)}});
  EXPECT_NEAR(simulate(two, parameters, {2}).seconds, 20, kTiny) << "each has its own";
}

TEST(Simulate, FurtherGroupsAppendOrInterleave) {
  Parameters parameters = simple(1);
  parameters.revocation = 10;
  const Workload one = workload({{write(0, 50), write(50, 50)}});
  EXPECT_EQ(simulate(one, parameters, {4, Placement::append}).revocations, 0U);
  EXPECT_GT(simulate(one, parameters, {4, Placement::interleave}).revocations, 0U);
  EXPECT_EQ(simulate(one, parameters, {4, Placement::interleave}).bytes, 400U);
}

TEST(Simulate, MetadataIsWrittenOnceAndReadByAll) {
  Request metadata = write(0, 10);
  metadata.metadata = true;
  Request read = metadata;
  read.kind = Kind::read;
  const Result result = simulate(workload({{metadata, read, write(100, 10)}}), simple(1), {5});
  EXPECT_EQ(result.requests, 1U + 5U + 5U);
}

// A rank that looks at the shared file by itself does so once, however many ranks there are.
TEST(Simulate, WhatOneRankDoesAloneIsDoneOnce) {
  Ledger shared{{"shared.h5", "host", 0, 2, 1, 1}, {{0, 10, 10, 0, 0, 1, Kind::write, 0, 3}}};
  Ledger other = shared;
  other.header.rank = 1;
  other.header.pid = 2;
  Ledger alone{{"shared.h5", "host", -1, -1, 1, 2}, {{0, 10, 10, 0, 0, 1, Kind::read, 0, 3}}};
  Ledger own = alone;
  own.header.file = "own.h5";
  EXPECT_EQ(simulate(workload_of({shared, other, alone}), simple(1), {8}).requests, 8U + 1U);
  EXPECT_EQ(simulate(workload_of({shared, other, own}), simple(1), {8}).requests, 8U + 4U);
}

// HDF5 has rank 0 read some metadata for all; what other ranks read, too, each of them reads.
TEST(Simulate, RankZeroReadsMetadataForAll) {
  const Record read{0, 10, 10, 0, 0, 1, Kind::read, kMetadata, 1};
  const Record write{0, 10, 10, 0, 0, 1, Kind::write, 0, 3};
  Ledger first{{"shared.h5", "host", 0, 2, 1, 1}, {read, write}};
  Ledger second{{"shared.h5", "host", 1, 2, 2, 1}, {write}};
  EXPECT_EQ(simulate(workload_of({first, second}), simple(1), {8}).requests, 8U + 1U);
  EXPECT_EQ(simulate(workload_of({first}), simple(1), {8}).requests, 8U + 8U);
  second.records.push_back(read);
  EXPECT_EQ(simulate(workload_of({first, second}), simple(1), {8}).requests, 8U + 8U);
}

// Rows of 10 bytes that two ranks write in turn become one request of 200 bytes.
TEST(Simulate, CollectivesAreMerged) {
  std::vector<Trace> traces(2);
  for (std::uint64_t row = 0; row < 20; ++row) traces[row % 2].push_back(write(row * 10, 10, 1));
  const Result merged = simulate(workload(traces), simple(2), {2});
  EXPECT_NEAR(merged.seconds, 2, kTiny) << "a stripe on each of two servers";
  EXPECT_EQ(merged.requests, 20U);
  EXPECT_EQ(merged.bytes, 200U);
  const Result apart = simulate(workload(traces), simple(2), {2, Placement::append, false});
  EXPECT_NEAR(apart.seconds, 20 * 1.1, 2) << "mostly all at the same server";
}

// Two ranks of 200 bytes each: exchanging and sending them takes 20 s each at 10 bytes a second.
TEST(Simulate, AggregatorsShareTheNetwork) {
  Parameters parameters = simple(4);
  parameters.client_bandwidth = 10;
  const Workload work = workload({{write(0, 200, 1)}, {write(200, 200, 1)}});
  EXPECT_NEAR(simulate(work, parameters, {2}).seconds, 40, kTiny);
}

TEST(Simulate, CollectivesThatNotAllMakeEnd) {
  const Workload uneven = workload({{write(0, 100, 1), write(0, 100, 2)}, {write(100, 100, 2)}});
  EXPECT_EQ(simulate(uneven, simple(2), {2}).requests, 3U);
}

TEST(Simulate, ManyCollectivesNeedNoStack) {
  Trace trace;
  for (std::uint32_t i = 1; i <= 200'000; ++i) trace.push_back(write(i, 1, i));
  EXPECT_EQ(simulate(workload({trace}), simple(1), {2}).requests, 400'000U);
}

TEST(Simulate, NothingToPlayIsNamed) {
  EXPECT_THROW(simulate({}, simple(1), {}), Error);
  EXPECT_THROW(simulate(workload({{}}), simple(1), {0}), Error);
  EXPECT_THROW(simulate(workload({{}}), simple(0), {}), Error);
  EXPECT_NEAR(simulate(workload({{}}), simple(1), {9}).seconds, 0, kTiny);
}

class Random : public testing::TestWithParam<unsigned> {
 protected:
  Workload make() {
    std::vector<Trace> traces(1 + pick(4));
    const std::size_t requests = 1 + pick(40);
    for (std::size_t i = 0; i < requests; ++i) {
      Request request = write(pick(5000), 1 + pick(700));
      request.kind = pick(3) == 0 ? Kind::read : Kind::write;
      request.metadata = pick(4) == 0;
      traces[pick(traces.size())].push_back(request);
    }
    return workload(traces);
  }
  std::size_t pick(std::size_t bound) { return random_() % bound; }

  std::mt19937 random_{GetParam()};
};

TEST_P(Random, IsBoundedAndDeterministic) {
  const Workload work = make();
  Parameters parameters = simple(static_cast<std::uint32_t>(1 + pick(5)));
  parameters.revocation = pick(2) == 0 ? 0 : 3;
  parameters.client_bandwidth = pick(2) == 0 ? 0 : 30;
  const model::Run run{static_cast<std::uint32_t>(1 + pick(9)),
                       pick(2) == 0 ? Placement::append : Placement::interleave, true};
  const Result result = simulate(work, parameters, run);
  EXPECT_GE(result.seconds * parameters.servers * parameters.bandwidth,
            static_cast<double>(result.bytes));
  EXPECT_LE(result.efficiency, 1);
  EXPECT_GE(result.seconds, result.busiest_server - kTiny);
  EXPECT_EQ(simulate(work, parameters, run).seconds, result.seconds);
  if (parameters.revocation > 0) {
    parameters.revocation = 0;
    EXPECT_EQ(simulate(work, parameters, run).revocations, 0U);
  }
}

TEST_P(Random, MoreServersNeverSlowAStripedStream) {
  const std::uint64_t length = 1 + pick(5000);
  double before = 1e300;
  for (const std::uint32_t servers : {1U, 2U, 4U, 8U}) {
    const double now = simulate(workload({{write(0, length)}}), simple(servers), {}).seconds;
    EXPECT_LE(now, before + kTiny);
    before = now;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Random, testing::Range(0U, 200U));

}  // namespace
}  // namespace headrace::model

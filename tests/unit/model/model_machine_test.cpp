#include <gtest/gtest.h>

#include "base/error.hpp"
#include "model/machine.hpp"
#include "model/quantity.hpp"

namespace headrace::model {
namespace {

constexpr double kTiny = 1e-12;

// 2 servers, stripes of 100 bytes; 1 s a piece and 1 s for 100 bytes; 10 s a revocation.
Parameters simple() {
  Parameters parameters;
  parameters.servers = 2;
  parameters.stripe_size = 100;
  parameters.latency = parameters.read_latency = 1;
  parameters.bandwidth = parameters.read_bandwidth = 100;
  parameters.revocation = 10;
  return parameters;
}

TEST(Machine, QueuesPiecesByServer) {
  Machine machine(simple());
  EXPECT_NEAR(machine.serve(0, Kind::write, {0, 0, 100}, 0), 2, kTiny);
  EXPECT_NEAR(machine.serve(0, Kind::write, {0, 1, 50}, 0), 1.5, kTiny) << "the other server";
  EXPECT_NEAR(machine.serve(0, Kind::write, {0, 2, 100}, 0), 4, kTiny) << "behind the first";
  EXPECT_NEAR(machine.serve(0, Kind::write, {0, 0, 100}, 9), 11, kTiny) << "nobody is waiting";
  EXPECT_EQ(machine.bytes(), 350U);
  EXPECT_NEAR(machine.busiest(), 6, kTiny);
}

TEST(Machine, RevokesLocksOfOthers) {
  Machine machine(simple());
  const auto cost = [&](std::uint32_t client, Kind kind) {
    const double begin = 1000 * static_cast<double>(machine.bytes() + 1);
    return machine.serve(client, kind, {0, 0, 100}, begin) - begin - 2;
  };
  EXPECT_NEAR(cost(0, Kind::write), 0, 1e-6) << "nobody had it";
  EXPECT_NEAR(cost(0, Kind::write), 0, 1e-6) << "its own";
  EXPECT_NEAR(cost(1, Kind::write), 10, 1e-6) << "another's";
  EXPECT_NEAR(cost(0, Kind::read), 10, 1e-6) << "a read after another's write";
  EXPECT_NEAR(cost(1, Kind::read), 0, 1e-6) << "readers share";
  EXPECT_NEAR(cost(0, Kind::read), 0, 1e-6);
  EXPECT_NEAR(cost(0, Kind::write), 10, 1e-6) << "the other reader loses it";
  EXPECT_NEAR(cost(0, Kind::read), 0, 1e-6) << "its own write";
  EXPECT_NEAR(cost(1, Kind::write), 10, 1e-6);
  EXPECT_EQ(machine.revocations(), 4U);
}

TEST(Machine, SplitsRequestsAtStripes) {
  const Piece piece = first_piece(simple(), 3, 250, 1000);
  EXPECT_EQ(piece.file, 3U);
  EXPECT_EQ(piece.stripe, 2U);
  EXPECT_EQ(piece.bytes, 50U);
  EXPECT_EQ(first_piece(simple(), 0, 200, 7).bytes, 7U);
}

TEST(SingleClient, WaitsForEachRequest) {
  SingleClient client(simple());
  client.request(Kind::write, 0, 200);  // both servers at once
  EXPECT_NEAR(client.seconds(), 2, kTiny);
  client.request(Kind::write, 0, 50);
  EXPECT_NEAR(client.seconds(), 3.5, kTiny);
}

TEST(SingleClient, IsLimitedByItsNetwork) {
  Parameters parameters = simple();
  parameters.client_bandwidth = 10;
  SingleClient client(parameters);
  client.request(Kind::write, 0, 200);  // 20 s on the network, whatever the servers could
  EXPECT_NEAR(client.seconds(), 20, kTiny);
}

TEST(Quantity, IsSeconds) {
  EXPECT_NEAR(parse_duration("x", "250us"), 250e-6, kTiny);
  EXPECT_THROW(parse_duration("x", "1min"), Error);
}

TEST(Presets, AreWhole) {
  for (const Preset& each : presets()) {
    EXPECT_NO_THROW(check(each.parameters)) << each.name;
    EXPECT_FALSE(each.source.empty()) << each.name;
  }
  EXPECT_EQ(preset("lustre-160").parameters.servers, 160U);
  EXPECT_THROW(preset("lustre-5"), Error);
}

}  // namespace
}  // namespace headrace::model

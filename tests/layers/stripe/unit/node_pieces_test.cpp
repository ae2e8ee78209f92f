#include "layers/stripe/driver/nodes/node_pieces.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace headrace::stripe {
namespace {

using Bytes = std::vector<std::byte>;

// What a rank of a node of three sees. Those after the first find what the first has told, and join
// while it waits for them.
class OneNode final : public Communicator {
 public:
  OneNode(int rank, Bytes& told, std::function<void()> meanwhile = {})
      : rank_(rank), told_(told), meanwhile_(std::move(meanwhile)) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return 3; }
  void barrier() override {}
  void broadcast(std::span<std::byte> /*bytes*/, int /*root*/) override {}
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    if (mine.size() == sizeof(int)) {  // the lowest on the node
      std::ranges::fill(all, std::byte{0});
      return;
    }
    if (rank_ == 0) told_.assign(mine.begin(), mine.end());
    std::ranges::copy(told_, all.begin());
  }
  std::vector<std::vector<std::byte>> all_gather_any(std::span<const std::byte>) override {
    return {};
  }
  std::int64_t reduce(std::int64_t mine, Reduction /*how*/) override {
    if (const auto others = std::exchange(meanwhile_, nullptr)) others();
    return mine;
  }
  int lowest_on_node() override { return 0; }

 private:
  int rank_;
  Bytes& told_;
  std::function<void()> meanwhile_;
};

struct Node {
  Node() {
    OneNode first(0, told, [&] {
      for (int rank = 1; rank < 3; ++rank) {
        OneNode ranks(rank, told);
        pieces.push_back(NodePieces::make(ranks, 5000));
      }
    });
    pieces.insert(pieces.begin(), NodePieces::make(first, 5000));
  }
  bool put(std::size_t rank, std::uint64_t address, Bytes bytes) {
    return pieces[rank]->put(address, bytes);
  }
  // As the first rank would write it, on what is there.
  [[nodiscard]] Bytes written(Bytes file) const {
    for (const auto& run : pieces[0]->all()) {
      std::uint64_t at = run.address;
      for (const auto piece : run.pieces) {
        std::ranges::copy(piece, file.begin() + static_cast<std::ptrdiff_t>(at));
        at += piece.size();
      }
    }
    return file;
  }
  Bytes told;
  std::vector<std::unique_ptr<NodePieces>> pieces;
};

Bytes of(std::size_t size, int value) {
  Bytes bytes(size, static_cast<std::byte>(value));
  return bytes;
}

TEST(NodePieces, OfAllRanksJoined) {
  Node node;
  EXPECT_TRUE(node.pieces[0]->writes());
  EXPECT_FALSE(node.pieces[1]->writes());
  ASSERT_TRUE(node.put(2, 20, of(10, 3)));
  ASSERT_TRUE(node.put(0, 0, of(7, 1)));
  ASSERT_TRUE(node.put(1, 7, of(13, 2)));
  ASSERT_TRUE(node.put(1, 40, of(5, 4)));
  const auto runs = node.pieces[0]->all();
  ASSERT_EQ(runs.size(), 2);
  EXPECT_EQ(runs[0].address, 0);
  EXPECT_EQ(runs[0].pieces.size(), 3);
  EXPECT_EQ(runs[1].address, 40);
  Bytes expected = of(50, 0);
  std::fill_n(expected.begin(), 7, std::byte{1});
  std::fill_n(expected.begin() + 7, 13, std::byte{2});
  std::fill_n(expected.begin() + 20, 10, std::byte{3});
  std::fill_n(expected.begin() + 40, 5, std::byte{4});
  EXPECT_EQ(node.written(of(50, 0)), expected);
  EXPECT_EQ(node.pieces[1]->mine().size(), 2);
  for (const auto& one : node.pieces) one->forget();
  EXPECT_TRUE(node.pieces[0]->all().empty());
}

TEST(NodePieces, WhatOneRankWritesTwiceIsOfItsLastWrite) {
  Node node;
  ASSERT_TRUE(node.put(1, 10, of(10, 1)));
  ASSERT_TRUE(node.put(1, 5, of(10, 2)));
  const Bytes file = node.written(of(30, 0));
  EXPECT_EQ(file[12], std::byte{2});
  EXPECT_EQ(file[5], std::byte{2});
  EXPECT_EQ(file[19], std::byte{1});
}

TEST(NodePieces, NoRoom) {
  Node node;  // a share is whole pages: 8192 bytes
  EXPECT_FALSE(node.put(0, 0, of(8192, 1)));
  EXPECT_TRUE(node.put(0, 0, of(8000, 1)));
  EXPECT_FALSE(node.put(0, 8000, of(161, 1)));
  EXPECT_TRUE(node.put(0, 8000, of(152, 2)));
  EXPECT_FALSE(node.put(0, 9000, of(1, 1)));
  ASSERT_TRUE(node.put(1, 9000, of(8000, 3)));  // another rank's share
  EXPECT_EQ(node.written(of(17'000, 0))[8151], std::byte{2});
  EXPECT_EQ(node.written(of(17'000, 0))[9000], std::byte{3});
}

TEST(NodePieces, MemoryThatIsNotTheFirstRanks) {
  Bytes told;
  OneNode first(0, told, [&] {
    OneNode second(1, told);
    told.at(sizeof(std::uint64_t)) ^= std::byte{1};  // the token
    EXPECT_EQ(NodePieces::make(second, 5000), nullptr);
    told.at(sizeof(std::uint64_t)) ^= std::byte{1};
    EXPECT_EQ(NodePieces::make(second, 50'000), nullptr);
    EXPECT_NE(NodePieces::make(second, 5000), nullptr);
  });
  ASSERT_NE(NodePieces::make(first, 5000), nullptr);
}

}  // namespace
}  // namespace headrace::stripe

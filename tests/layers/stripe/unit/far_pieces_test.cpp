#include "layers/stripe/driver/nodes/far_pieces.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <thread>

#include "base/error.hpp"
#include "layers/stripe/driver/nodes/piece_server.hpp"

namespace headrace::stripe {
namespace {

using Bytes = std::vector<std::byte>;

// A subfile in memory; offsets from `full` on have no room.
class Kept final : public engine::io::File {
 public:
  void write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) override {
    ++writes;
    for (const auto piece : pieces) {
      if (offset + piece.size() > full) throw Error("subfile 7: No space left on device", ENOSPC);
      if (bytes.size() < offset + piece.size()) bytes.resize(offset + piece.size());
      std::ranges::copy(piece, bytes.begin() + static_cast<std::ptrdiff_t>(offset));
      offset += piece.size();
    }
  }
  void read(std::uint64_t offset, std::span<std::byte> wanted) override {
    ++reads;
    for (std::byte& byte : wanted) {
      byte = offset < bytes.size() ? bytes[offset] : std::byte{0};
      ++offset;
    }
  }
  void sync() override { ++syncs; }
  void resize(std::uint64_t size) override { bytes.resize(size); }

  Bytes bytes;
  std::uint64_t full = std::uint64_t{1} << 40U;
  int writes = 0;
  int reads = 0;
  int syncs = 0;
};

Bytes counted(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

struct OtherNode : ::testing::Test {
  Kept kept;
  PieceServer server{{{7, &kept}}};
  FarNode node{"b", server.invitation()};
  std::unique_ptr<engine::io::File> piece = node.piece(7, "/local/x_8_of_9");
};

void write(engine::io::File& storage, std::uint64_t offset, std::span<const std::byte> bytes) {
  storage.write(offset, {&bytes, 1});
}

std::string error_of(const std::function<void()>& act, int number) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.error_number(), number) << error.what();
    return error.what();
  }
  return "none";
}

TEST_F(OtherNode, HasWhatIsWritten) {
  const Bytes all = counted((3 * kMostBytes) + 12'345);
  const std::array<std::span<const std::byte>, 3> parts{
      std::span(all).first(5), std::span<const std::byte>(), std::span(all).subspan(5)};
  piece->write(100, parts);
  ASSERT_EQ(kept.bytes.size(), 100 + all.size());
  EXPECT_TRUE(std::ranges::equal(std::span(kept.bytes).subspan(100), all));
  EXPECT_EQ(kept.writes, 4);
  Bytes back(all.size() + 110, std::byte{9});
  piece->read(95, back);
  EXPECT_TRUE(std::ranges::equal(std::span(back).subspan(5, all.size()), all));
  EXPECT_EQ(back.back(), std::byte{0}) << "beyond the end";
  EXPECT_EQ(kept.reads, 4);
  const std::span<std::byte> again = back;
  std::ranges::fill(again, std::byte{9});
  const std::array<std::span<std::byte>, 3> wanted{again.first(7), again.first(0),
                                                   again.subspan(7, 200)};
  piece->read_pieces(100, wanted);
  EXPECT_TRUE(std::ranges::equal(again.first(207), std::span(all).first(207)));
  EXPECT_EQ(back[207], std::byte{9});
  EXPECT_EQ(kept.reads, 5) << "pieces are fetched together";
  piece->sync();
  EXPECT_EQ(kept.syncs, 1);
  piece->resize(50);
  EXPECT_EQ(kept.bytes.size(), 50);
}

TEST_F(OtherNode, ErrorsAreThoseOfTheNode) {
  kept.full = 1000;
  EXPECT_EQ(error_of([&] { write(*piece, 0, counted(1001)); }, ENOSPC),
            "subfile 7: No space left on device (on node b)");
  write(*piece, 0, counted(1000));
  EXPECT_EQ(kept.bytes, counted(1000));
  const auto missing = node.piece(8, "/local/x_9_of_9");
  EXPECT_EQ(error_of([&] { missing->sync(); }, 0), "this subfile is not on the node (on node b)");
}

TEST_F(OtherNode, ManyThreads) {
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (std::uint64_t k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      FarNode own("b", server.invitation());
      const auto other = own.piece(7, "x");
      for (std::uint64_t i = 0; i < 50; ++i) {
        engine::io::File& storage = i % 2 == 0 ? *piece : *other;
        write(storage, ((i * 4) + k) * 100, Bytes(100, static_cast<std::byte>(k + 1)));
        Bytes back(100);
        storage.read(((i * 4) + k) * 100, back);
        EXPECT_EQ(back, Bytes(100, static_cast<std::byte>(k + 1)));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(OtherNode, AForkedChildHasAConnectionOfItsOwn) {
  write(*piece, 0, counted(5000));
  const pid_t child = ::fork();
  if (child == 0) {
    Bytes back(5000);
    piece->read(0, back);
    ::_exit(back == counted(5000) ? 0 : 1);
  }
  for (int i = 0; i < 100; ++i) {
    Bytes back(100);
    piece->read(static_cast<std::uint64_t>(i), back);
    EXPECT_TRUE(std::ranges::equal(back, std::span(kept.bytes).subspan(i, 100)));
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// A forked child that closes the file ends no server but leaves that of its parent.
TEST(PieceServer, InAForkedChild) {
  Kept kept;
  auto server =
      std::make_unique<PieceServer>(std::map<std::uint32_t, engine::io::File*>{{0, &kept}});
  const pid_t child = ::fork();
  if (child == 0) {
    server.reset();
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  FarNode node("a", server->invitation());
  write(*node.piece(0, "x"), 0, counted(10));
  EXPECT_EQ(kept.bytes, counted(10));
}

// Connected to a server without its keys.
int stranger(const Invitation& invitation) {
  const int number = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(invitation.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(number, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return number;
}

void send(int peer, const void* data, std::size_t size) {
  EXPECT_EQ(::send(peer, data, size, MSG_NOSIGNAL), static_cast<ssize_t>(size));
}

// What the server says until it hangs up.
std::size_t answered(int peer) {
  std::array<char, 100> told{};
  std::size_t size = 0;
  for (ssize_t some = 1; some > 0; size += static_cast<std::size_t>(std::max<ssize_t>(some, 0)))
    some = ::recv(peer, told.data(), told.size(), 0);
  ::close(peer);
  return size;
}

TEST_F(OtherNode, StrangersAreNotServed) {
  Key wrong = server.invitation().shown;
  wrong[15] ^= std::byte{1};
  const int liar = stranger(server.invitation());
  send(liar, wrong.data(), wrong.size());
  EXPECT_EQ(answered(liar), 0);
  const int idle = stranger(server.invitation());
  send(idle, wrong.data(), 3);
  const Request huge{Act::write, 7, 0, kMostBytes + 1};
  const Request unknown{static_cast<Act>(4), 7, 0, 0};
  for (const Request& request : {huge, unknown}) {
    const int peer = stranger(server.invitation());
    send(peer, server.invitation().shown.data(), sizeof(Key));
    send(peer, &request, sizeof request);
    EXPECT_EQ(answered(peer), sizeof(Key));
  }
  const int torn = stranger(server.invitation());
  send(torn, server.invitation().shown.data(), sizeof(Key));
  const Request part{Act::write, 7, 0, 1000};
  send(torn, &part, sizeof part);
  send(torn, &part, sizeof part);
  ::close(torn);
  write(*piece, 0, counted(10));  // the others are served
  EXPECT_EQ(kept.bytes, counted(10));
  EXPECT_EQ(kept.writes, 1);
  ::close(idle);
}

TEST(FarNode, ThatIsNotThere) {
  Kept kept;
  auto server =
      std::make_unique<PieceServer>(std::map<std::uint32_t, engine::io::File*>{{0, &kept}});
  Invitation other = server->invitation();
  other.answered[0] ^= std::byte{1};  // somebody else at that port
  FarNode impostor("c", other);
  const auto wrong = impostor.piece(0, "/local/x");
  EXPECT_TRUE(error_of([&] { wrong->sync(); }, EHOSTUNREACH)
                  .starts_with("/local/x: node c cannot be reached at port "));
  FarNode node("b", server->invitation());
  const auto piece = node.piece(0, "/local/x");
  piece->sync();
  server.reset();
  try {
    piece->sync();
    ADD_FAILURE() << "without a server";
  } catch (const Error& error) {
    EXPECT_TRUE(error.error_number() == ECONNRESET || error.error_number() == EPIPE);
  }
  EXPECT_TRUE(error_of([&] { piece->sync(); }, EHOSTUNREACH).starts_with("/local/x: node b "));
}

TEST(Invitation, Torn) {
  Kept kept;
  PieceServer server({{0, &kept}});
  const Bytes bytes = bytes_of(server.invitation());
  const Invitation back = invitation_in(bytes);
  EXPECT_EQ(back.port, server.invitation().port);
  EXPECT_EQ(back.addresses, server.invitation().addresses);
  EXPECT_THROW(invitation_in(std::span(bytes).first(33)), Error);
}

}  // namespace
}  // namespace headrace::stripe

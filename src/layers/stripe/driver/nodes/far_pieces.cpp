#include "layers/stripe/driver/nodes/far_pieces.hpp"

#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <asio.hpp>
#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

#include "base/error.hpp"

namespace headrace::stripe {
namespace {

using asio::ip::tcp;

constexpr std::chrono::seconds kPatience{10};  // for one address
// When a node has gone without a word, its requests fail after about a minute.
constexpr int kIdle = 30;      // seconds
constexpr int kInterval = 10;  // seconds
constexpr int kProbes = 3;

void set(tcp::socket& socket, int name, int value) {
  // Where it cannot be set, the system's own is used.
  static_cast<void>(::setsockopt(socket.native_handle(), IPPROTO_TCP, name, &value, sizeof value));
}

asio::awaitable<void> greet(tcp::socket& socket, const tcp::endpoint& end,
                            const Invitation& invitation) {
  co_await socket.async_connect(end, asio::use_awaitable);
  co_await asio::async_write(socket, asio::buffer(invitation.shown.data(), invitation.shown.size()),
                             asio::use_awaitable);
  Key answered{};
  co_await asio::async_read(socket, asio::buffer(answered.data(), answered.size()),
                            asio::use_awaitable);
  if (answered != invitation.answered)
    throw std::system_error(asio::error::make_error_code(asio::error::no_permission));
}

}  // namespace

struct FarNode::Connection {
  asio::io_context context{1};
  tcp::socket socket{context};
};

FarNode::FarNode(std::string name, Invitation invitation)
    : name_(std::move(name)), invitation_(std::move(invitation)) {}
FarNode::~FarNode() = default;

std::unique_ptr<FarNode::Connection> FarNode::connect_to(const std::string& address) const {
  auto made = std::make_unique<Connection>();
  std::exception_ptr failed;
  const tcp::endpoint end(asio::ip::make_address(address), invitation_.port);
  asio::co_spawn(made->context, greet(made->socket, end, invitation_),
                 [&](const std::exception_ptr& error) { failed = error; });
  made->context.run_for(kPatience);
  if (!made->context.stopped()) throw std::system_error(std::make_error_code(std::errc::timed_out));
  if (failed != nullptr) std::rethrow_exception(failed);
  made->socket.set_option(tcp::no_delay(true));
  made->socket.set_option(asio::socket_base::keep_alive(true));
  set(made->socket, TCP_KEEPIDLE, kIdle);
  set(made->socket, TCP_KEEPINTVL, kInterval);
  set(made->socket, TCP_KEEPCNT, kProbes);
  set(made->socket, TCP_USER_TIMEOUT, 1000 * (kIdle + kProbes * kInterval));
  return made;
}

FarNode::Connection& FarNode::connection() {
  if (connection_ != nullptr && process_ == ::getpid()) return *connection_;
  connection_.reset();  // the parent goes on with its own
  std::string tried;
  for (const std::string& address : invitation_.addresses) {
    try {
      connection_ = connect_to(address);
      process_ = ::getpid();
      return *connection_;
    } catch (const std::system_error& error) {
      tried.append(tried.empty() ? "" : ", ").append(address).append(": ").append(error.what());
    }
  }
  throw Error("node " + name_ + " cannot be reached at port " + std::to_string(invitation_.port) +
                  " (" + tried + ")",
              EHOSTUNREACH);
}

namespace {

// Calls `ask(size, part)` for as much as one message may have, until there is no more.
template <typename Buffer, typename Byte, typename Ask>
void in_messages(std::span<const std::span<Byte>> pieces, const Ask& ask) {
  std::vector<Buffer> part;
  std::uint64_t size = 0;
  const auto send = [&] {
    ask(size, part);
    size = 0;
    part.clear();
  };
  for (std::span<Byte> piece : pieces)
    while (!piece.empty()) {
      const auto now = piece.first(std::min<std::uint64_t>(piece.size(), kMostBytes - size));
      part.emplace_back(now.data(), now.size());
      size += now.size();
      piece = piece.subspan(now.size());
      if (size == kMostBytes) send();
    }
  if (size > 0) send();
}

}  // namespace

class FarNode::Piece final : public engine::io::File {
 public:
  Piece(FarNode& node, std::uint32_t number, std::string path)
      : node_(node), number_(number), path_(std::move(path)) {}

  void write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) override {
    in_messages<asio::const_buffer>(pieces, [&](std::uint64_t size, const auto& part) {
      ask({Act::write, number_, offset, size}, part, {});
      offset += size;
    });
  }
  void read(std::uint64_t offset, std::span<std::byte> bytes) override {
    read_pieces(offset, {&bytes, 1});
  }
  void read_pieces(std::uint64_t offset, std::span<const std::span<std::byte>> pieces) override {
    in_messages<asio::mutable_buffer>(pieces, [&](std::uint64_t size, const auto& part) {
      ask({Act::read, number_, offset, size}, {}, part);
      offset += size;
    });
  }
  void sync() override { ask({Act::sync, number_, 0, 0}, {}, {}); }
  void resize(std::uint64_t size) override { ask({Act::resize, number_, 0, size}, {}, {}); }

 private:
  void ask(const Request& request, std::vector<asio::const_buffer> given,
           const std::vector<asio::mutable_buffer>& wanted) {
    const std::lock_guard lock(node_.mutex_);
    std::string text;
    Reply reply{};
    try {
      tcp::socket& socket = node_.connection().socket;
      given.insert(given.begin(), asio::buffer(&request, sizeof request));
      asio::write(socket, given);
      asio::read(socket, asio::buffer(&reply, sizeof reply));
      if (reply.text == 0) {
        asio::read(socket, wanted);
        return;
      }
      text.resize(std::min(reply.text, kMostText));
      asio::read(socket, asio::buffer(text));
    } catch (const std::system_error& error) {
      node_.connection_.reset();
      const bool of_system = error.code().category() == asio::error::get_system_category();
      throw Error(
          path_ + ", on node " + node_.name_ + ": its connection has ended: " + error.what(),
          of_system ? error.code().value() : ECONNRESET);
    } catch (const Error& error) {
      throw Error(path_ + ": " + error.what(), error);
    }
    throw Error(text + " (on node " + node_.name_ + ")", reply.error_number);
  }

  FarNode& node_;
  std::uint32_t number_;
  std::string path_;
};

std::unique_ptr<engine::io::File> FarNode::piece(std::uint32_t number, std::string path) {
  return std::make_unique<Piece>(*this, number, std::move(path));
}

}  // namespace headrace::stripe

#include "layers/stripe/driver/nodes/piece_server.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <pthread.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <asio.hpp>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/process/blocked_signals.hpp"
#include "base/report/log.hpp"

namespace headrace::stripe {
namespace {

using asio::ip::tcp;

Key random_key() {
  Key key{};
  if (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size()))
    throw Error("the system has no random numbers");
  return key;
}

// However many bytes are right, it takes as long.
bool alike(const Key& one, const Key& other) {
  std::byte different{0};
  for (std::size_t i = 0; i < one.size(); ++i) different |= one[i] ^ other[i];
  return different == std::byte{0};
}

asio::ip::address address_in(const sockaddr* found) {
  if (found->sa_family == AF_INET) {
    const auto* const four = reinterpret_cast<const sockaddr_in*>(found);
    return asio::ip::address_v4(ntohl(four->sin_addr.s_addr));
  }
  const auto* const six = reinterpret_cast<const sockaddr_in6*>(found);
  asio::ip::address_v6::bytes_type bytes;
  std::ranges::copy(six->sin6_addr.s6_addr, bytes.begin());
  return asio::ip::address_v6(bytes);
}

// Those that other nodes can know come first; loopback, for made-up nodes of one machine, last.
std::vector<std::string> own_addresses() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return {};
  std::vector<std::pair<int, std::string>> found;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    if (each->ifa_addr->sa_family != AF_INET && each->ifa_addr->sa_family != AF_INET6) continue;
    const asio::ip::address address = address_in(each->ifa_addr);
    if (address.is_v6() && address.to_v6().is_link_local()) continue;
    found.emplace_back((address.is_loopback() ? 2 : 0) + (address.is_v6() ? 1 : 0),
                       address.to_string());
  }
  ::freeifaddrs(all);
  std::ranges::stable_sort(found, {}, &std::pair<int, std::string>::first);
  std::vector<std::string> addresses;
  addresses.reserve(found.size());
  for (auto& [order, address] : found) addresses.push_back(std::move(address));
  return addresses;
}

}  // namespace

struct PieceServer::Service {
  std::map<std::uint32_t, engine::io::File*> pieces;
  Key shown;
  Key answered;
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  std::thread thread;
  pid_t process = ::getpid();

  void listen() {
    try {
      acceptor.open(tcp::v6());
      acceptor.set_option(asio::ip::v6_only(false));
      acceptor.bind({tcp::v6(), 0});
    } catch (const std::system_error&) {
      acceptor = tcp::acceptor(context);
      acceptor.open(tcp::v4());
      acceptor.bind({tcp::v4(), 0});
    }
    acceptor.listen();
  }

  asio::awaitable<void> accept() {
    while (true) {
      asio::error_code failed;
      tcp::socket peer =
          co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, failed));
      if (!failed) {
        asio::co_spawn(context, serve(std::move(peer)), asio::detached);
        continue;
      }
      if (failed == asio::error::operation_aborted) co_return;
      // No more descriptors, say: some peer may go.
      asio::steady_timer pause(context, std::chrono::milliseconds(100));
      co_await pause.async_wait(asio::use_awaitable);
    }
  }

  asio::awaitable<void> serve(tcp::socket peer) {
    try {
      Key key{};
      co_await asio::async_read(peer, asio::buffer(key.data(), key.size()), asio::use_awaitable);
      if (!alike(key, shown)) co_return;
      peer.set_option(tcp::no_delay(true));
      peer.set_option(asio::socket_base::keep_alive(true));
      co_await asio::async_write(peer, asio::buffer(answered.data(), answered.size()),
                                 asio::use_awaitable);
      while (co_await answer(peer)) {
      }
    } catch (const std::system_error&) {
      // The rank has gone, or tells its program why it could not go on.
    }
  }

  // False for what no rank of ours sends.
  asio::awaitable<bool> answer(tcp::socket& peer) {
    Request request{};
    co_await asio::async_read(peer, asio::buffer(&request, sizeof request), asio::use_awaitable);
    const bool moves = request.act == Act::read || request.act == Act::write;
    if (request.act > Act::resize || (moves && request.size > kMostBytes)) co_return false;
    std::vector<std::byte> bytes(moves ? request.size : 0);
    const auto buffer = asio::buffer(bytes.data(), bytes.size());
    if (request.act == Act::write) co_await asio::async_read(peer, buffer, asio::use_awaitable);
    Reply reply{};
    const std::string text = carry_out(request, bytes, reply);
    co_await asio::async_write(peer, asio::buffer(&reply, sizeof reply), asio::use_awaitable);
    if (!text.empty())
      co_await asio::async_write(peer, asio::buffer(text), asio::use_awaitable);
    else if (request.act == Act::read)
      co_await asio::async_write(peer, buffer, asio::use_awaitable);
    co_return true;
  }

  // Empty, or what went wrong.
  std::string carry_out(const Request& request, std::span<std::byte> bytes, Reply& reply) {
    std::string text;
    try {
      const auto found = pieces.find(request.subfile);
      if (found == pieces.end()) throw Error("this subfile is not on the node");
      engine::io::File& storage = *found->second;
      const std::span<const std::byte> given = bytes;
      if (request.act == Act::read) storage.read(request.offset, bytes);
      if (request.act == Act::write) storage.write(request.offset, {&given, 1});
      if (request.act == Act::sync) storage.sync();
      if (request.act == Act::resize) storage.resize(request.size);
    } catch (const Error& error) {
      reply.error_number = error.error_number();
      text = error.what();
    } catch (const std::exception& error) {
      text = error.what();
    }
    if (text.size() > kMostText) text.resize(kMostText);
    reply.text = static_cast<std::uint32_t>(text.size());
    return text;
  }

  void run() {
    try {
      context.run();
    } catch (const std::exception& error) {
      log(Level::error, std::string("stripe: the server of a node's pieces ends: ") + error.what());
    }
  }
};

PieceServer::PieceServer(std::map<std::uint32_t, engine::io::File*> pieces) try
    : service_(std::make_unique<Service>()) {
  invitation_ = {random_key(), random_key(), 0, own_addresses()};
  service_->pieces = std::move(pieces);
  service_->shown = invitation_.shown;
  service_->answered = invitation_.answered;
  service_->listen();
  invitation_.port = service_->acceptor.local_endpoint().port();
  asio::co_spawn(service_->context, service_->accept(), asio::detached);
  const BlockedSignals for_the_program;
  service_->thread = std::thread(&Service::run, service_.get());
  ::pthread_setname_np(service_->thread.native_handle(), "headrace-pieces");
} catch (const std::system_error& error) {
  throw Error(std::string("the pieces of this node cannot be served: ") + error.what(),
              error.code().value());
}

PieceServer::~PieceServer() {
  // In a forked child there is no such thread.
  if (service_->process != ::getpid()) {
    [[maybe_unused]] const Service* const left = service_.release();
    return;
  }
  service_->context.stop();
  service_->thread.join();
}

}  // namespace headrace::stripe

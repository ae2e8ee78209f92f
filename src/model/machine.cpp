#include "model/machine.hpp"

#include <algorithm>

namespace headrace::model {
namespace {

constexpr std::uint32_t kMany = ~0U;  // a lock for reading that several clients have
// About half a GiB of locks. When there are more all are forgotten, which can only spare
// revocations.
constexpr std::size_t kMaxLocks = 1U << 23U;

}  // namespace

Piece first_piece(const Parameters& parameters, std::uint64_t file, std::uint64_t offset,
                  std::uint64_t length) {
  const std::uint64_t stripe = offset / parameters.stripe_size;
  return {file, stripe, std::min(length, parameters.stripe_size - offset % parameters.stripe_size)};
}

bool Machine::take(std::uint32_t client, Kind kind, const Key& key) {
  if (locks_.size() >= kMaxLocks) {
    locks_.clear();
    ++forgotten_;
  }
  const bool write = kind != Kind::read;
  const auto [found, fresh] = locks_.try_emplace(key, Lock{client, write});
  if (fresh) return false;
  Lock& lock = found->second;
  if (lock.holder == client) {
    lock.written = lock.written || write;
    return false;
  }
  const bool revoked = write || lock.written;
  lock = {revoked ? client : kMany, write};
  return revoked;
}

double Machine::serve(std::uint32_t client, Kind kind, const Piece& piece, double arrival) {
  double service = parameters_.service(kind, piece.bytes);
  if (parameters_.revocation > 0 && take(client, kind, {piece.file, piece.stripe})) {
    service += parameters_.revocation;
    ++revocations_;
  }
  const std::uint32_t server = parameters_.server_of(piece.file, piece.stripe);
  free_[server] = std::max(free_[server], arrival) + service;
  busy_[server] += service;
  bytes_ += piece.bytes;
  return free_[server];
}

double Machine::busiest() const { return *std::ranges::max_element(busy_); }

void SingleClient::request(Kind kind, std::uint64_t offset, std::uint64_t length) {
  double link = now_;
  while (length > 0) {
    const Piece piece = first_piece(machine_.parameters(), 0, offset, length);
    const double done = machine_.serve(0, kind, piece, link);
    link += machine_.parameters().sending(piece.bytes);
    now_ = std::max({now_, done, link});
    offset += piece.bytes;
    length -= piece.bytes;
  }
}

}  // namespace headrace::model

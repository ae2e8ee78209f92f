// The servers' queues of mode=delay, in memory that the processes of a machine may share.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "model/machine.hpp"

namespace headrace::model {

// Nanoseconds of the machine's monotonic clock, which all its processes share.
std::int64_t clock_now();

class Queues {
 public:
  // Those in the file `shared`, or this process's own when it is empty or cannot be used (which is
  // logged). They live as long as the process.
  static Queues& of(const std::string& shared);

  // Queues a request that is made at `now`; returns the time at which it is done. Threads and
  // processes may call it at the same time.
  std::int64_t reserve(const Parameters& parameters, Kind kind, std::uint64_t file,
                       std::uint64_t offset, std::uint64_t length, std::int64_t now);

 private:
  static constexpr std::size_t kServers = 4096;
  static constexpr std::size_t kLocks = 65536;
  // All zero is a good state, so that a new file needs no set-up that others had to wait for.
  struct Memory {
    std::atomic<std::uint64_t> mark;
    std::array<std::atomic<std::int64_t>, kServers> free;  // when each has done what it was given
    // Who last held a stripe, by the stripe's hash: half of the hash, whether it was written, and
    // the process. Another stripe may take the place; that can only spare a revocation.
    std::array<std::atomic<std::uint64_t>, kLocks> locks;
  };

  explicit Queues(Memory* memory) : memory_(memory) {}
  static Memory* map(const std::string& shared);
  bool take(Kind kind, const Piece& piece);

  Memory* memory_;
  std::atomic<std::int64_t> link_ = 0;  // when this process's network link is free
};

}  // namespace headrace::model

// Random numbers that are the same on every machine: what a seed leads to is part of the interface.
#pragma once

#include <cstdint>

namespace headrace::fault {

// SplitMix64, by Sebastiano Vigna (public domain).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  // From 0 to `bound` - 1; `bound` is not 0. The bias of the remainder is below 2^-32 here.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  bool coin() { return (next() & 1U) != 0; }

 private:
  std::uint64_t state_;
};

}  // namespace headrace::fault

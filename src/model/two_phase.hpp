// A collective request as two-phase I/O makes it: the ranks hand their bytes to aggregators, each
// of which has servers of its own and moves what has been merged.
#pragma once

#include <cstdint>
#include <vector>

#include "model/machine.hpp"

namespace headrace::model {

class TwoPhase {
 public:
  // What is added from here on is another client's.
  void next_client() { client_bytes_ = 0; }
  void add(Kind kind, std::uint32_t file, std::uint64_t offset, std::uint64_t length,
           std::uint64_t span);
  // All clients are there at `ready`; returns when the last byte is done.
  double run(Machine& machine, std::uint32_t clients, double ready);

 private:
  struct Extent {
    std::uint32_t file;
    std::uint64_t begin;
    std::uint64_t end;
  };
  // Sorts, and makes one of those that touch. Returns the bytes they cover.
  std::uint64_t merge();

  std::vector<Extent> extents_;
  Kind kind_ = Kind::read;
  std::uint64_t bytes_ = 0;
  std::uint64_t client_bytes_ = 0;
  std::uint64_t most_ = 0;  // bytes of one client
};

}  // namespace headrace::model

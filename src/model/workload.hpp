// From the ledgers of a program to what the simulated clients do.
#pragma once

#include <cstdint>
#include <vector>

#include "model/ledger.hpp"

namespace headrace::model {

struct Request {
  std::uint64_t offset;
  std::uint64_t length;
  std::uint64_t span;
  std::uint32_t file;        // index into Workload::spans
  std::uint32_t collective;  // number of the collective call, from 1; 0: none
  Kind kind;
  bool metadata;
  bool alone;  // made by one rank only, however many there are
};

// What one recorded process did, in the order it did it.
using Trace = std::vector<Request>;

struct Workload {
  std::vector<Trace> traces;         // by rank, then host and process
  std::vector<std::uint64_t> spans;  // of each file: the end of its last request, bytes
  std::uint32_t collectives = 0;
};

// Ledgers of one process (host and pid) become one trace, in the order of time. Ledgers that name
// the same file are of the same file. Flushes and truncations take no time and are left out.
Workload workload_of(const std::vector<Ledger>& ledgers);

}  // namespace headrace::model

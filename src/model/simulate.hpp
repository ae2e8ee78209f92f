// Plays a workload by many clients against the servers of a modelled file system. Deterministic:
// the same input gives the same result. Its assumptions are in docs/guide/model.md.
#pragma once

#include <cstdint>

#include "model/parameters.hpp"
#include "model/workload.hpp"

namespace headrace::model {

// Where the data of the clients beyond the recorded ones go.
enum class Placement {
  append,     // each group of recorded clients has a region of its own, one after the other
  interleave  // the same block of all groups lies side by side
};

struct Run {
  std::uint32_t clients = 1;
  Placement placement = Placement::append;
  bool merge_collectives = true;  // as two-phase I/O does
};

struct Result {
  std::uint32_t clients = 0;
  double seconds = 0;
  std::uint64_t bytes = 0;     // that the servers moved
  double efficiency = 0;       // of the bandwidth of all servers; 0 when that has no limit
  std::uint64_t requests = 0;  // of the clients
  std::uint64_t revocations = 0;
  double busiest_server = 0;    // seconds
  std::uint64_t forgotten = 0;  // times that locks were too many to remember
};

// Throws Error when the workload or the parameters are none.
Result simulate(const Workload& workload, const Parameters& parameters, const Run& run);

}  // namespace headrace::model

// The JSON line about one repeat of a case.
#pragma once

#include <optional>
#include <string>

#include "append.hpp"
#include "baseline.hpp"
#include "kernel.hpp"

namespace headrace::bench {

struct Measured {
  int repeat = 0;
  bool warmup = false;
  std::string started;  // UTC
  std::string connector;
  std::string driver;
  int rounds = 0;         // how often the case was done; times and bytes are the mean
  double write_wall = 0;  // seconds from barrier to barrier, less the harness's own
  double read_wall = 0;
  std::uint64_t file_bytes = 0;
  std::string dropped = "no";
  std::optional<Baseline> baseline;
  bool verified = false;
};

// What every line about the case begins with. `actual_io`, where there is one, is told with the
// parameters.
JsonObject sample_head(const Workload& workload, std::string_view kernel, World& world,
                       std::string_view actual_io = {});

// Collective: the clocks of all ranks go into it.
std::string sample_line(const Workload& workload, std::string_view kernel, Run& run,
                        const Measured& measured);

// Now, as 2026-01-31T12:00:00Z.
std::string utc_now();

std::string seconds_text(double seconds);

}  // namespace headrace::bench

// The options that all kernels share.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "world.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headrace::bench {

struct Options {
  std::string hdf5;
  UseMpi mpi = UseMpi::automatic;
  bool subfiling = false;
  std::string dir = ".";
  int repeats = 1;
  int warmup = 0;
  int first_repeat = 0;
  std::chrono::nanoseconds at_least{0};  // of each side of a repeat
  std::string samples;                   // empty: standard output
  std::string only;
  bool list = false;
  bool quick = false;
  bool sync = false;
  bool drop_caches = false;
  bool no_read = false;
  bool keep = false;
  bool reread = false;
  bool baseline = false;
  std::uint64_t baseline_files = 1;
  bool progress = false;
  std::chrono::nanoseconds compute{0};  // per step
  bool compute_works = false;           // burn cycles instead of sleeping
};

void add_common_options(CLI::App& app, Options& options);

// "8Mi", "64KiB", "1000": plain numbers with binary suffixes. Used as add_count(app, "--particles",
// n, "…").
CLI::Option* add_count(CLI::App& app, const std::string& name, std::uint64_t& count,
                       const std::string& meaning);

}  // namespace headrace::bench

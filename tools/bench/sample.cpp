#include "sample.hpp"

#include <array>
#include <ctime>

#include "base/error.hpp"

namespace headrace::bench {
namespace {

// Collective.
std::string extremes(World& world, double mine) {
  const double least = world.smallest(mine);
  const double most = world.largest(mine);
  return JsonObject().raw("min", seconds_text(least)).raw("max", seconds_text(most)).str();
}

std::string phases(Run& run) {
  JsonObject all;
  for (std::size_t i = 0; i < kPhaseNames.size(); ++i) {
    const auto phase = static_cast<Phase>(i);
    // A rank may have had nothing to do in a phase that others were in.
    if (run.world().largest(run.used(phase) ? 1 : 0) > 0)
      all.raw(kPhaseNames[i], extremes(run.world(), run.seconds(phase)));
  }
  return all.str();
}

// What became of the transfers that were to be collective: conversion of types, for one, has HDF5
// do them independently. Empty when there were none. Collective.
std::string_view actual_io(Run& run) {
  const bool independent = run.world().largest(run.was_independent() ? 1 : 0) > 0;
  const bool collective = run.world().largest(run.was_collective() ? 1 : 0) > 0;
  if (independent && collective) return "mixed";
  if (independent) return "independent";
  return collective ? "collective" : "";
}

std::string baseline_text(const Baseline& baseline) {
  return JsonObject()
      .raw("write", seconds_text(baseline.write))
      .raw("read", seconds_text(baseline.read))
      .number("bytes", static_cast<long long>(baseline.bytes))
      .str();
}

}  // namespace

std::string seconds_text(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9f", seconds);
  return text.data();
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

JsonObject sample_head(const Workload& workload, std::string_view kernel, World& world,
                       std::string_view actual_io) {
  JsonObject parameters = workload.parameters();
  if (!actual_io.empty()) parameters.text("actual_io", actual_io);
  JsonObject line;
  line.text("kernel", kernel)
      .text("case", workload.name())
      .raw("parameters", parameters.str())
      .number("ranks", world.size());
  return line;
}

std::string sample_line(const Workload& workload, std::string_view kernel, Run& run,
                        const Measured& measured) {
  World& world = run.world();
  const Hdf5Library hdf5 = hdf5_library();
  JsonObject line = sample_head(workload, kernel, world, actual_io(run));
  line.number("repeat", measured.repeat)
      .boolean("warmup", measured.warmup)
      .number("rounds", measured.rounds)
      .text("hdf5", hdf5.version)
      .text("library", hdf5.path)
      .text("connector", measured.connector)
      .text("driver", measured.driver)
      .text("started", measured.started)
      .raw("phases", phases(run))
      .raw("write_wall", seconds_text(measured.write_wall))
      .raw("read_wall", seconds_text(measured.read_wall))
      .raw("bytes", JsonObject()
                        .number("written", static_cast<long long>(world.sum(run.written())))
                        .number("read", static_cast<long long>(world.sum(run.read())))
                        .number("file", static_cast<long long>(measured.file_bytes))
                        .str());
  if (measured.baseline) line.raw("baseline", baseline_text(*measured.baseline));
  line.text("dropped", measured.dropped).boolean("verified", measured.verified);
  return line.str();
}

}  // namespace headrace::bench

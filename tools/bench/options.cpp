#include "options.hpp"

#include <CLI/CLI.hpp>
#include <map>

namespace headrace::bench {
namespace {

const std::map<std::string, std::uint64_t> kDurations{
    {"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};
const std::map<std::string, std::uint64_t> kCounts{
    {"k", 1ULL << 10U}, {"ki", 1ULL << 10U}, {"kib", 1ULL << 10U},
    {"m", 1ULL << 20U}, {"mi", 1ULL << 20U}, {"mib", 1ULL << 20U},
    {"g", 1ULL << 30U}, {"gi", 1ULL << 30U}, {"gib", 1ULL << 30U}};
const std::map<std::string, UseMpi> kMpi{
    {"auto", UseMpi::automatic}, {"yes", UseMpi::yes}, {"no", UseMpi::no}};

void add_what(CLI::App& app, Options& options) {
  app.add_option("--hdf5", options.hdf5, "The libhdf5 to run on, 1.14 or newer");
  app.add_option("--mpi", options.mpi, "Run under MPI: auto when an MPI launcher has started us")
      ->transform(CLI::CheckedTransformer(kMpi).description("auto|yes|no"));
  app.add_flag("--subfiling", options.subfiling,
               "Use HDF5's own subfiling, set by its variables (H5FD_SUBFILING_...)");
  app.add_option("--dir", options.dir, "Folder for the data")->check(CLI::ExistingDirectory);
  app.add_option("--repeats", options.repeats, "Measured repeats of each case")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--warmup", options.warmup, "Repeats before them, marked as such")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--first-repeat", options.first_repeat, "Number of the first measured repeat")
      ->check(CLI::NonNegativeNumber);
  app.add_option_function<std::uint64_t>(
         "--at-least",
         [&](std::uint64_t time) { options.at_least = std::chrono::nanoseconds(time); },
         "Have a repeat do the case over and over until it has written and read for so long "
         "(50ms), "
         "and tell the mean")
      ->transform(CLI::AsNumberWithUnit(kDurations, CLI::AsNumberWithUnit::UNIT_REQUIRED, "TIME"));
  app.add_option("--samples", options.samples, "File to append samples to, a JSON line each");
  app.add_option("--only", options.only, "Only cases whose name matches this shell pattern");
  app.add_flag("--list", options.list, "Tell the cases and their sizes, and do nothing");
  app.add_flag("--quick", options.quick, "Small sizes");
}

}  // namespace

void add_common_options(CLI::App& app, Options& options) {
  add_what(app, options);
  app.add_option_function<std::string>(
         "--sync", [&](const std::string& when) { options.sync = when == "close"; },
         "fsync the files after they are closed, and time it")
      ->check(CLI::IsMember({"none", "close"}));
  app.add_flag("--drop-caches", options.drop_caches,
               "Have the kernel forget the files' pages before they are read");
  app.add_flag("--no-read", options.no_read, "Do not read back, and so do not verify");
  app.add_flag("--keep", options.keep, "Keep the data of the last repeat");
  app.add_flag("--reread", options.reread,
               "Write nothing: read and verify what a run with --keep has left");
  app.add_flag("--baseline", options.baseline, "Also write and read as many bytes without HDF5");
  add_count(app, "--baseline-files", options.baseline_files, "To so many files");
  app.add_flag("--progress", options.progress, "Tell the progress on standard error");
  app.add_option_function<std::uint64_t>(
         "--compute", [&](std::uint64_t time) { options.compute = std::chrono::nanoseconds(time); },
         "Emulated computation per step: 20ms")
      ->transform(CLI::AsNumberWithUnit(kDurations, CLI::AsNumberWithUnit::UNIT_REQUIRED, "TIME"));
  app.add_option_function<std::string>(
         "--compute-kind", [&](const std::string& kind) { options.compute_works = kind == "work"; },
         "Whether it sleeps or works")
      ->check(CLI::IsMember({"sleep", "work"}));
}

CLI::Option* add_count(CLI::App& app, const std::string& name, std::uint64_t& count,
                       const std::string& meaning) {
  return app.add_option(name, count, meaning)
      ->transform(CLI::AsNumberWithUnit(kCounts, CLI::AsNumberWithUnit::CASE_INSENSITIVE, "COUNT"))
      ->check(CLI::PositiveNumber);
}

}  // namespace headrace::bench

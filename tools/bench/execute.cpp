#include "execute.hpp"

#include <fnmatch.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "folder.hpp"
#include "sample.hpp"

namespace headrace::bench {
namespace {

constexpr int kFailed = 1;
constexpr int kInterrupted = 130;

bool wanted(const Workload& workload, const Options& options) {
  return options.only.empty() || fnmatch(options.only.c_str(), workload.name().c_str(), 0) == 0;
}

// Seconds from barrier to barrier of the slowest rank, less what the harness itself did.
template <typename Work>
double wall(Run& run, const Work& work) {
  run.world().ranks().barrier();
  const double harness = run.harness_seconds();
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> mine = std::chrono::steady_clock::now() - start;
  return run.world().largest(mine.count() - (run.harness_seconds() - harness));
}

std::string connector_of(const Workload& workload, Run& run) {
  const Handle file = workload.open_file(run);
  char name[128] = "";
  check(H5VLget_connector_name(file.get(), name, sizeof name), "H5VLget_connector_name");
  return name;
}

class Case {
 public:
  Case(std::string_view kernel, Workload& workload, World& world, const Options& options)
      : kernel_(kernel),
        workload_(workload),
        world_(world),
        options_(options),
        folder_(options.dir, std::string(kernel) + '-' + workload.name(), options.reread) {}

  // Collective.
  [[nodiscard]] bool was_measured(int number) const {
    return !options_.reread && workload_.was_measured(number, world_, options_);
  }

  // Collective. Returns an exit status.
  int repeat(int number, bool warmup, bool last) {
    try {
      measure(number, warmup, last);
      return 0;
    } catch (const Interrupted& interrupt) {
      tell_failure(interrupt.what(), number, warmup);
      leave(kInterrupted);
    } catch (const std::exception& error) {
      tell_failure(error.what(), number, warmup);
      leave(kFailed);
    }
    return status_;
  }

 private:
  void measure(int number, bool warmup, bool last) {
    Run run(world_, options_, folder_.place());
    run.label(workload_.name());
    Measured measured;
    measured.repeat = number;
    measured.warmup = warmup;
    measured.started = utc_now();
    do {
      round(run, measured);
    } while (too_short(measured));
    run.divide(measured.rounds);
    measured.write_wall /= measured.rounds;
    measured.read_wall /= measured.rounds;
    if (options_.baseline) {
      world_.on_first([&] { folder_.settle(); });
      measured.baseline =
          measure_baseline(world_, options_, folder_.place(), workload_.bytes(world_.size()));
    }
    const std::string line = sample_line(workload_, kernel_, run, measured);
    world_.on_first([&] {
      if (!options_.reread) folder_.finish();
      append_sample(options_.samples, line);
      if (!options_.reread && !(options_.keep && last)) folder_.remove();
    });
    if (!warmup) workload_.measured(run, measured);
  }

  void round(Run& run, Measured& measured) {
    if (!options_.reread) {
      world_.on_first([&] {
        folder_.make();
        if (measured.rounds == 0) folder_.settle();
      });
      write(run, measured);
    }
    measured.connector = connector_of(workload_, run);
    measured.driver = run.driver();
    // After the file was opened for its connector, which reads some pages.
    if (options_.drop_caches)
      world_.on_first([&] { measured.dropped = folder_.drop_caches() ? "file" : "no"; });
    if (!options_.no_read) {
      measured.read_wall += wall(run, [&] { workload_.read(run); });
      measured.verified = true;
    }
    ++measured.rounds;
  }

  // Whether another round is needed for a time that means something. The walls are those of the
  // slowest rank, so that all ranks say the same.
  [[nodiscard]] bool too_short(const Measured& measured) const {
    constexpr int kMostRounds = 200;
    constexpr double kPatience = 20;  // for a side that takes much less than the other one
    const double least = std::chrono::duration<double>(options_.at_least).count();
    if (options_.reread || measured.rounds >= kMostRounds) return false;
    if (measured.write_wall + measured.read_wall >= kPatience * least) return false;
    return measured.write_wall < least || (!options_.no_read && measured.read_wall < least);
  }

  void write(Run& run, Measured& measured) {
    measured.write_wall += wall(run, [&] {
      workload_.write(run);
      if (options_.sync) {
        world_.ranks().barrier();  // all ranks have closed what is synced
        run.timed(Phase::sync, [&] { world_.on_first([&] { folder_.sync(); }); });
      }
    });
    world_.on_first([&] { measured.file_bytes = folder_.bytes(); });
  }

  void tell_failure(const std::string& what, int number, bool warmup) {
    JsonObject line = sample_head(workload_, kernel_, world_);
    line.number("repeat", number)
        .boolean("warmup", warmup)
        .number("rank", world_.rank())
        .text("error", what)
        .text("partial", folder_.place());
    std::fprintf(stderr, "headrace-bench: %s, %s: %s\n  what was written so far: %s\n",
                 std::string(kernel_).c_str(), workload_.name().c_str(), what.c_str(),
                 folder_.place().c_str());
    try {
      append_sample(options_.samples, line.str());
    } catch (const std::exception& error) {
      std::fprintf(stderr, "headrace-bench: %s\n", error.what());
    }
  }

  // The other ranks may be inside a collective call, waiting for this one: ending without
  // MPI_Finalize has the launcher end them too.
  void leave(int status) {
    status_ = status;
    if (world_.size() == 1) return;
    std::fflush(nullptr);
    _exit(status);
  }

  std::string_view kernel_;
  Workload& workload_;
  World& world_;
  const Options& options_;
  CaseFolder folder_;
  int status_ = 0;
};

int run_case(Case& one, const Options& options) {
  std::vector<int> repeats;
  for (int i = 0; i < options.repeats; ++i)
    if (!one.was_measured(options.first_repeat + i)) repeats.push_back(options.first_repeat + i);
  if (repeats.empty()) return 0;
  int status = 0;
  for (int i = 0; i < options.warmup && status != kInterrupted; ++i)
    status = std::max(status, one.repeat(i, true, false));
  for (const int repeat : repeats)
    if (status != kInterrupted)
      status = std::max(status, one.repeat(repeat, false, repeat == repeats.back()));
  return status;
}

}  // namespace

Handle Workload::open_file(Run& run) const {
  const Handle fapl = run.fapl();
  return {H5Fopen(run.file().c_str(), H5F_ACC_RDONLY, fapl.get()), H5Fclose, "open " + run.file()};
}

int execute(std::string_view kernel, Workloads& workloads, World& world, const Options& options) {
  int status = 0;
  for (const auto& workload : workloads) {
    if (!wanted(*workload, options)) continue;
    Case one(kernel, *workload, world, options);
    status = std::max(status, run_case(one, options));
    if (status == kInterrupted) break;
  }
  return status;
}

void list_cases(std::string_view kernel, const Workloads& workloads, World& world,
                const Options& options) {
  for (const auto& workload : workloads) {
    if (!wanted(*workload, options) || world.rank() != 0) continue;
    const auto written = static_cast<long long>(workload->bytes(world.size()));
    const auto read = static_cast<long long>(workload->bytes_read(world.size()));
    JsonObject line = sample_head(*workload, kernel, world);
    line.raw("bytes", JsonObject().number("written", written).number("read", read).str());
    append_sample({}, line.str());
  }
}

}  // namespace headrace::bench

// The reads of the clustering program BD-CATS: it reads, in even shares, what VPIC has written.
// https://h5bench.readthedocs.io/en/latest/vpic.html
#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "kernels/particles/steps.hpp"

namespace headrace::bench::particles {
namespace {

enum class Part { all, beginning, strided };

struct ReadPattern {
  const char* name;
  Part part;
};

constexpr std::array kReadPatterns{ReadPattern{"contiguous", Part::all},
                                   ReadPattern{"partial", Part::beginning},
                                   ReadPattern{"strided", Part::strided}};

struct ReadShape {
  StepShape steps;
  std::uint64_t percent = 25;
  std::uint64_t block = 16;
  std::uint64_t stride = 64;
};

class Bdcats final : public Workload {
 public:
  Bdcats(const ReadPattern& pattern, const ReadShape& shape, bool collective)
      : Workload(std::string(pattern.name) + (collective ? "-collective" : "-independent")),
        pattern_(pattern),
        shape_(shape),
        collective_(collective) {}

  [[nodiscard]] JsonObject parameters() const override {
    JsonObject all;
    all.number("particles", static_cast<long long>(shape_.steps.particles))
        .number("timesteps", static_cast<long long>(shape_.steps.timesteps))
        .boolean("uneven", shape_.steps.uneven)
        .text("pattern", pattern_.name)
        .boolean("collective", collective_);
    if (pattern_.part == Part::beginning)
      all.number("percent", static_cast<long long>(shape_.percent));
    if (pattern_.part == Part::strided)
      all.number("block", static_cast<long long>(shape_.block))
          .number("stride", static_cast<long long>(shape_.stride));
    return all;
  }

  [[nodiscard]] std::uint64_t bytes(int ranks) const override {
    return payload(shape_.steps.total(ranks));
  }
  [[nodiscard]] std::uint64_t bytes_read(int ranks) const override {
    std::uint64_t sum = 0;
    for (int rank = 0; rank < ranks; ++rank) sum += payload(share_of(rank, ranks).count());
    return sum;
  }

  void write(Run& run) override {
    StepWrite how;
    how.shape = shape_.steps;
    how.collective = collective_;
    how.phase = Phase::create;
    write_steps(run, how);
    run.wrote(payload(shape_.steps.held_by(run.rank())));
  }

  void read(Run& run) override {
    read_steps(run, shape_.steps, Layout::arrays, collective_, share_of(run.rank(), run.ranks()));
  }

 private:
  // Of so many particles in each step.
  [[nodiscard]] std::uint64_t payload(hsize_t particles) const {
    return particles * vpic_record().packed_size() * shape_.steps.timesteps;
  }
  [[nodiscard]] Pick share_of(int rank, int ranks) const {
    const hsize_t total = shape_.steps.total(ranks);
    const auto place = [&](int i) {
      return total * static_cast<hsize_t>(i) / static_cast<hsize_t>(ranks);
    };
    const hsize_t first = place(rank);
    const hsize_t count = place(rank + 1) - first;
    if (pattern_.part == Part::strided)
      return Pick::strided(first, count, shape_.block, shape_.stride);
    constexpr hsize_t kWhole = 100;
    return Pick::slab(first, pattern_.part == Part::all ? count : count * shape_.percent / kWhole);
  }

  ReadPattern pattern_;
  ReadShape shape_;
  bool collective_;
};

class BdcatsKernel final : public Kernel {
 public:
  void add_options(CLI::App& app) override {
    add_count(app, "--particles", shape_.steps.particles, "Particles that each rank has written");
    add_count(app, "--timesteps", shape_.steps.timesteps, "Time steps");
    app.add_flag("--uneven", shape_.steps.uneven, "Ranks have written 75 to 125 % of --particles");
    app.add_option("--percent", shape_.percent, "Of a rank's share, what the partial case reads")
        ->check(CLI::Range(1, 100));
    add_count(app, "--block", shape_.block, "Particles per block of the strided case");
    add_count(app, "--stride", shape_.stride, "Particles from block to block");
  }
  void shrink() override {
    shape_.steps.particles = std::uint64_t{64} << 10U;
    shape_.steps.timesteps = 2;
  }
  Workloads workloads(int ranks) override {
    if (shape_.stride < shape_.block)
      throw Error("bdcats: --stride must not be less than --block, or blocks overlap");
    if (shape_.steps.particles / 2 < shape_.block)
      throw Error("bdcats: --block must not be more than half of --particles");
    Workloads all;
    for (const ReadPattern& pattern : kReadPatterns) {
      all.push_back(std::make_unique<Bdcats>(pattern, shape_, false));
      if (ranks > 1) all.push_back(std::make_unique<Bdcats>(pattern, shape_, true));
    }
    return all;
  }

 private:
  ReadShape shape_;
};

}  // namespace
}  // namespace headrace::bench::particles

namespace headrace::bench {

std::unique_ptr<Kernel> make_bdcats() { return std::make_unique<particles::BdcatsKernel>(); }

}  // namespace headrace::bench

// The plasma simulation VPIC's particles, eight variables each, in the patterns of memory and file
// that h5bench has. https://h5bench.readthedocs.io/en/latest/vpic.html
#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "kernels/particles/steps.hpp"

namespace headrace::bench::particles {
namespace {

struct Pattern {
  const char* name;
  Layout layout;
  bool strided;
  bool slow;
};

constexpr std::array kPatterns{
    Pattern{"contiguous", Layout::arrays, false, false},
    Pattern{"compound", Layout::structures, false, false},
    Pattern{"interleaved", Layout::struct_to_arrays, false, false},
    Pattern{"compound-members", Layout::arrays_to_struct, false, true},
    Pattern{"strided", Layout::arrays, true, true},
};

struct Shape {
  StepShape steps;
  std::uint64_t slow_particles = std::uint64_t{256} << 10U;
  std::uint64_t block = 2;
  std::uint64_t stride = 8;
};

class Vpic final : public Workload {
 public:
  Vpic(const Pattern& pattern, const Shape& shape, bool collective)
      : Workload(std::string(pattern.name) + (collective ? "-collective" : "-independent")),
        pattern_(pattern),
        shape_(shape),
        collective_(collective) {
    if (pattern_.slow) shape_.steps.particles = shape_.slow_particles;
  }

  [[nodiscard]] JsonObject parameters() const override {
    JsonObject all;
    all.number("particles", static_cast<long long>(shape_.steps.particles))
        .number("timesteps", static_cast<long long>(shape_.steps.timesteps))
        .boolean("uneven", shape_.steps.uneven)
        .text("pattern", pattern_.name)
        .boolean("collective", collective_);
    if (pattern_.strided)
      all.number("block", static_cast<long long>(shape_.block))
          .number("stride", static_cast<long long>(shape_.stride));
    return all;
  }

  [[nodiscard]] std::uint64_t bytes(int ranks) const override {
    std::uint64_t sum = 0;
    for (int rank = 0; rank < ranks; ++rank) sum += payload(shape_.steps.held_by(rank));
    return sum;
  }

  void write(Run& run) override {
    StepWrite how;
    how.shape = shape_.steps;
    how.layout = pattern_.layout;
    how.collective = collective_;
    how.of_slab = [this](const Pick& slab) { return part_of(slab); };
    write_steps(run, how);
    run.wrote(payload(shape_.steps.held_by(run.rank())));
  }

  void read(Run& run) override {
    const hsize_t mine = shape_.steps.held_by(run.rank());
    const Pick pick = part_of(Pick::slab(run.world().before(mine), mine));
    read_steps(run, shape_.steps, pattern_.layout, collective_, pick);
  }

 private:
  // Of a rank with so many particles.
  [[nodiscard]] std::uint64_t payload(hsize_t held) const {
    return part_of(Pick::slab(0, held)).count() * vpic_record().packed_size() *
           shape_.steps.timesteps;
  }
  [[nodiscard]] Pick part_of(const Pick& slab) const {
    return pattern_.strided ? Pick::strided(slab.first, slab.count(), shape_.block, shape_.stride)
                            : slab;
  }

  Pattern pattern_;
  Shape shape_;
  bool collective_;
};

class VpicKernel final : public Kernel {
 public:
  void add_options(CLI::App& app) override {
    add_count(app, "--particles", shape_.steps.particles, "Particles per rank");
    add_count(app, "--slow-particles", shape_.slow_particles,
              "Particles per rank of the cases compound-members and strided");
    add_count(app, "--timesteps", shape_.steps.timesteps, "Time steps");
    app.add_flag("--uneven", shape_.steps.uneven, "Ranks hold 75 to 125 % of --particles");
    add_count(app, "--block", shape_.block, "Particles per block of the strided case");
    add_count(app, "--stride", shape_.stride, "Particles from block to block");
  }
  void shrink() override {
    shape_.steps.particles = std::uint64_t{64} << 10U;
    shape_.slow_particles = std::uint64_t{4} << 10U;
    shape_.steps.timesteps = 2;
  }
  Workloads workloads(int ranks) override {
    if (shape_.stride < shape_.block)
      throw Error("vpic: --stride must not be less than --block, or blocks overlap");
    if (shape_.slow_particles / 2 < shape_.block)
      throw Error("vpic: --block must not be more than half of --slow-particles");
    Workloads all;
    for (const Pattern& pattern : kPatterns) {
      all.push_back(std::make_unique<Vpic>(pattern, shape_, false));
      if (ranks > 1) all.push_back(std::make_unique<Vpic>(pattern, shape_, true));
    }
    return all;
  }

 private:
  Shape shape_;
};

}  // namespace
}  // namespace headrace::bench::particles

namespace headrace::bench {

std::unique_ptr<Kernel> make_vpic() { return std::make_unique<particles::VpicKernel>(); }

}  // namespace headrace::bench

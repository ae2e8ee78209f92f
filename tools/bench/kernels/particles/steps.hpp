// Files of particles in time steps, as VPIC leaves them: written by vpic and, for reading, by
// bdcats.
#pragma once

#include <functional>

#include "kernel.hpp"
#include "kernels/particles/datasets.hpp"

namespace headrace::bench::particles {

struct StepShape {
  std::uint64_t particles = std::uint64_t{8} << 20U;  // per rank
  std::uint64_t timesteps = 5;
  bool uneven = false;  // ranks hold 75 to 125 % of `particles`

  // How many particles a rank holds, and all.
  [[nodiscard]] hsize_t held_by(int rank) const;
  [[nodiscard]] hsize_t total(int ranks) const;
};

// x, y, z, px, py, pz, id_1, id_2.
const Record& vpic_record();
std::string step_name(std::uint64_t step);

struct StepWrite {
  StepShape shape;
  Layout layout = Layout::arrays;
  bool collective = false;
  Phase phase = Phase::write;         // of the transfers
  std::function<Pick(Pick)> of_slab;  // what is written of this rank's slab; empty: all of it
};

// Makes run.file(); counting what was written is left to the caller. Collective.
void write_steps(Run& run, const StepWrite& how);

// Reads every step's `pick` into a buffer of that layout and verifies it. Collective.
void read_steps(Run& run, const StepShape& shape, Layout layout, bool collective, const Pick& pick);

}  // namespace headrace::bench::particles

#include "kernels/particles/steps.hpp"

#include "base/error.hpp"
#include "scratch.hpp"

namespace headrace::bench::particles {
namespace {

double part_done(std::uint64_t step, const StepShape& shape) {
  return static_cast<double>(step + 1) / static_cast<double>(shape.timesteps);
}

}  // namespace

hsize_t StepShape::held_by(int rank) const {
  if (!uneven) return particles;
  const std::uint64_t spread = particles / 2 + 1;
  const auto index = static_cast<std::uint64_t>(rank);
  return particles - particles / 4 + value<std::uint64_t>(key_of("uneven"), index) % spread;
}

hsize_t StepShape::total(int ranks) const {
  hsize_t sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += held_by(rank);
  return sum;
}

const Record& vpic_record() {
  static const Record kRecord({{"x", Scalar::f32},
                               {"y", Scalar::f32},
                               {"z", Scalar::f32},
                               {"px", Scalar::f32},
                               {"py", Scalar::f32},
                               {"pz", Scalar::f32},
                               {"id_1", Scalar::i32},
                               {"id_2", Scalar::f32}});
  return kRecord;
}

std::string step_name(std::uint64_t step) { return "Timestep_" + std::to_string(step); }

void write_steps(Run& run, const StepWrite& how) {
  const hsize_t mine = how.shape.held_by(run.rank());
  const hsize_t total = run.world().sum(mine);
  const Pick slab = Pick::slab(run.world().before(mine), mine);
  const Pick pick = how.of_slab ? how.of_slab(slab) : slab;
  Scratch<ParticleBuffer> buffer(run, vpic_record(), how.layout, pick.count());
  ParticleDatasets datasets(vpic_record(), how.layout, *buffer);
  const Handle dxpl = transfer_list(run, how.collective, vpic_record(), pick.count());
  Handle file = run.timed(Phase::create, [&] {
    const Handle fapl = run.fapl();
    return Handle(H5Fcreate(run.file().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl.get()), H5Fclose,
                  "create " + run.file());
  });
  for (std::uint64_t step = 0; step < how.shape.timesteps; ++step) {
    const std::string name = step_name(step);
    run.untimed([&] { buffer->fill(name + '/', pick); });
    Handle group = run.timed(Phase::create, [&] {
      Handle made(H5Gcreate2(file.get(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                  H5Gclose, "create group " + name);
      datasets.create(made.get(), total);
      return made;
    });
    run.timed(how.phase, [&] { datasets.write(pick, total, dxpl); });
    run.transferred(dxpl.get());
    run.timed(Phase::close, [&] {
      datasets.close();
      group.close();
    });
    run.compute();
    run.progress(part_done(step, how.shape));
  }
  run.timed(Phase::flush, [&] { check(H5Fflush(file.get(), H5F_SCOPE_LOCAL), "flush"); });
  run.timed(Phase::close, [&] { file.close(); });
}

void read_steps(Run& run, const StepShape& shape, Layout layout, bool collective,
                const Pick& pick) {
  const hsize_t total = shape.total(run.ranks());
  Scratch<ParticleBuffer> buffer(run, vpic_record(), layout, pick.count());
  ParticleDatasets datasets(vpic_record(), layout, *buffer);
  const Handle dxpl = transfer_list(run, collective, vpic_record(), pick.count());
  Handle file = run.timed(Phase::open, [&] {
    const Handle fapl = run.fapl();
    return Handle(H5Fopen(run.file().c_str(), H5F_ACC_RDONLY, fapl.get()), H5Fclose,
                  "open " + run.file());
  });
  for (std::uint64_t step = 0; step < shape.timesteps; ++step) {
    const std::string name = step_name(step);
    Handle group = run.timed(Phase::open, [&] {
      Handle opened(H5Gopen2(file.get(), name.c_str(), H5P_DEFAULT), H5Gclose,
                    "open group " + name);
      datasets.open(opened.get(), total);
      return opened;
    });
    run.timed(Phase::read, [&] { datasets.read(pick, total, dxpl); });
    run.transferred(dxpl.get());
    run.has_read(pick.count() * vpic_record().packed_size());
    run.timed(Phase::close_read, [&] {
      datasets.close();
      group.close();
    });
    run.untimed([&] { buffer->verify(name + '/', pick); });
    run.compute();
    run.progress(part_done(step, shape));
  }
  run.timed(Phase::close_read, [&] { file.close(); });
}

}  // namespace headrace::bench::particles

#include "kernels/iotest/workload.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "kernels/iotest/csv.hpp"
#include "kernels/iotest/file.hpp"

namespace headrace::bench::iotest {
namespace {

constexpr std::uint64_t kKey = key_of("iotest");
// No element is written as this.
constexpr double kUnread = -1;

Texture texture(const Parameters& p) { return p.compressed() ? Texture::smooth : Texture::random; }

// Seconds of this rank, less what the harness did meanwhile.
template <typename Work>
double seconds_of(Run& run, const Work& work) {
  const double harness = run.harness_seconds();
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - start;
  return all.count() - (run.harness_seconds() - harness);
}

// The part of a dataset that a call transfers, and a memory space of the same shape.
struct Selection {
  Selection(const Handle& dataset, const Parameters::Block& block)
      : file(H5Dget_space(dataset.get()), H5Sclose, "dataspace"),
        memory(H5Screate_simple(static_cast<int>(block.count.size()), block.count.data(), nullptr),
               H5Sclose, "dataspace") {
    check(H5Sselect_hyperslab(file.get(), H5S_SELECT_SET, block.start.data(), nullptr,
                              block.count.data(), nullptr),
          "select");
  }
  Handle file;
  Handle memory;
};

}  // namespace

bool IotestWorkload::shared(Run& run) const {
  if (run.ranks() > 1) return true;
  if (parameters_.single_process != "mpi-io-uni") return false;
  if (run.world().parallel()) return true;
  throw Error("single-process = mpi-io-uni needs MPI: start with mpiexec -n 1, or give --mpi yes");
}

Handle IotestWorkload::fapl(Run& run) const {
  const bool mpio = shared(run);
  Handle list =
      mpio ? run.fapl() : Handle(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "file access property list");
  if (!mpio) {
    const std::string single = parameters_.single_process == "core" ? "core" : "sec2";
    run.driver(parameters_.split ? "split of " + single : single);
  }
  return tuned_fapl(std::move(list), parameters_, mpio);
}

Handle IotestWorkload::dxpl(Run& run) const {
  // Filters of a shared file need collective transfers, also those of a single rank.
  return run.dxpl(shared(run) && (parameters_.collective || parameters_.compressed()));
}

Handle IotestWorkload::open_file(Run& run) const {
  const Handle list = fapl(run);
  const std::string path = run.file(parameters_.hdf5_file);
  return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, list.get()), H5Fclose, "open " + path};
}

template <typename Action>
void IotestWorkload::each_row(int rank, std::uint64_t step, std::uint64_t array,
                              const Action& action) {
  const Parameters& p = parameters_;
  const std::uint64_t columns = p.my_columns();
  const auto me = static_cast<std::uint64_t>(rank);
  const std::uint64_t top = me / p.process_columns * p.my_rows();
  const std::uint64_t left = me % p.process_columns * columns;
  double* row = buffer_.data();
  for (std::uint64_t i = 0; i < p.arrays_at_once(); ++i) {
    const std::uint64_t first_row = (step * p.arrays + array + i) * p.all_rows() + top;
    for (std::uint64_t r = 0; r < p.my_rows(); ++r, row += columns)
      action(std::span<double>(row, columns), (first_row + r) * p.all_columns() + left);
  }
}

void IotestWorkload::delay(Run& run) const {
  if (run.options().compute.count() > 0)
    run.compute();
  else
    run.compute(parameters_.delay);
}

void IotestWorkload::create_dataset(Run& run, const Handle& file, std::uint64_t step,
                                    const std::string& name, Open& dataset) const {
  run.timed(Phase::close, [&] { dataset.id.close(); });
  dataset.name = name;
  // A dataset per array holds all steps, and only the first one makes it.
  const bool made = parameters_.dataset_rank == 3 && !parameters_.step_first && step > 0;
  run.timed(Phase::create, [&] {
    dataset.id = made ? Handle(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), H5Dclose,
                               "open dataset " + name)
                      : create(file, name, parameters_);
  });
}

void IotestWorkload::write_step(Run& run, const Handle& file, std::uint64_t step, Open& dataset) {
  const Parameters& p = parameters_;
  const Handle transfer = dxpl(run);
  for (std::uint64_t array = 0; array < p.arrays; array += p.arrays_at_once()) {
    const std::string name = p.dataset(step, array);
    if (name != dataset.name) create_dataset(run, file, step, name, dataset);
    run.untimed([&] {
      each_row(run.rank(), step, array, [&](std::span<double> row, std::uint64_t first) {
        fill<double>(row, kKey, first, texture(p));
      });
    });
    run.timed(Phase::write, [&] {
      const auto me = static_cast<std::uint64_t>(run.rank());
      const Selection part(dataset.id, p.block(step, array, p.arrays_at_once(), me));
      check(H5Dwrite(dataset.id.get(), H5T_NATIVE_DOUBLE, part.memory.get(), part.file.get(),
                     transfer.get(), buffer_.data()),
            "write " + name + " of " + run.file(p.hdf5_file));
    });
    run.transferred(transfer.get());
    run.wrote(buffer_.size() * sizeof(double));
  }
}

void IotestWorkload::write(Run& run) {
  const Parameters& p = parameters_;
  run.untimed([&] { buffer_.resize(p.my_rows() * p.my_columns() * p.arrays_at_once()); });
  write_seconds_ = seconds_of(run, [&] {
    const std::string path = run.file(p.hdf5_file);
    Handle file;
    Open dataset;
    run.timed(Phase::create, [&] {
      const Handle list = fapl(run);
      file = Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, list.get()), H5Fclose,
                    "create " + path);
    });
    for (std::uint64_t step = 0; step < p.steps; ++step) {
      write_step(run, file, step, dataset);
      delay(run);
      run.progress(static_cast<double>(step + 1) / static_cast<double>(2 * p.steps));
    }
    run.timed(Phase::close, [&] { dataset.id.close(); });
    run.timed(Phase::flush, [&] { check(H5Fflush(file.get(), H5F_SCOPE_LOCAL), "flush " + path); });
    run.timed(Phase::close, [&] { file.close(); });
  });
  wrote_ = true;
}

void IotestWorkload::open_dataset(Run& run, const Handle& file, const std::string& name,
                                  Open& dataset) const {
  run.timed(Phase::close_read, [&] { dataset.id.close(); });
  dataset.name = name;
  run.timed(Phase::open, [&] {
    dataset.id = Handle(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), H5Dclose,
                        "open dataset " + name + " of " + run.file(parameters_.hdf5_file));
  });
  run.untimed([&] { check_dataset(dataset.id, name, parameters_); });
}

void IotestWorkload::read_step(Run& run, const Handle& file, std::uint64_t step, Open& dataset) {
  const Parameters& p = parameters_;
  const Handle transfer = dxpl(run);
  for (std::uint64_t array = 0; array < p.arrays; array += p.arrays_at_once()) {
    const std::string name = p.dataset(step, array);
    if (name != dataset.name) open_dataset(run, file, name, dataset);
    run.untimed([&] { std::ranges::fill(buffer_, kUnread); });
    run.timed(Phase::read, [&] {
      const auto me = static_cast<std::uint64_t>(run.rank());
      const Selection part(dataset.id, p.block(step, array, p.arrays_at_once(), me));
      check(H5Dread(dataset.id.get(), H5T_NATIVE_DOUBLE, part.memory.get(), part.file.get(),
                    transfer.get(), buffer_.data()),
            "read " + name + " of " + run.file(p.hdf5_file));
    });
    run.transferred(transfer.get());
    run.untimed([&] {
      const std::string where = name + " of " + run.file(p.hdf5_file) + " (step " +
                                std::to_string(step) + ", array " + std::to_string(array) + ')';
      each_row(run.rank(), step, array, [&](std::span<double> row, std::uint64_t first) {
        verify<double>(row, kKey, first, where, texture(p));
      });
    });
    run.has_read(buffer_.size() * sizeof(double));
  }
}

void IotestWorkload::read(Run& run) {
  const Parameters& p = parameters_;
  run.untimed([&] { buffer_.resize(p.my_rows() * p.my_columns() * p.arrays_at_once()); });
  read_seconds_ = seconds_of(run, [&] {
    Handle file;
    Open dataset;
    run.timed(Phase::open, [&] { file = open_file(run); });
    for (std::uint64_t step = 0; step < p.steps; ++step) {
      read_step(run, file, step, dataset);
      run.progress(0.5 + static_cast<double>(step + 1) / static_cast<double>(2 * p.steps));
    }
    run.timed(Phase::close_read, [&] {
      dataset.id.close();
      file.close();
    });
  });
}

bool IotestWorkload::was_measured(int repeat, World& world, const Options& options) const {
  if (!parameters_.restart || parameters_.csv.empty()) return false;
  bool found = false;
  world.on_first([&] { found = has_row(parameters_, options, repeat); });
  return world.sum(found ? 1 : 0) > 0;
}

void IotestWorkload::measured(Run& run, const Measured& result) {
  // Reading what another run has left is no case of theirs.
  if (parameters_.csv.empty() || !wrote_) return;
  append_row(parameters_, run, result, write_seconds_, read_seconds_);
}

}  // namespace headrace::bench::iotest

// Writes and reads the arrays of one case of iotest.
#pragma once

#include "kernel.hpp"
#include "kernels/iotest/parameters.hpp"
#include "run.hpp"

namespace headrace::bench::iotest {

class IotestWorkload final : public Workload {
 public:
  explicit IotestWorkload(Parameters parameters)
      : Workload(parameters.name()), parameters_(std::move(parameters)) {}

  [[nodiscard]] JsonObject parameters() const override { return parameters_.json(); }
  [[nodiscard]] std::uint64_t bytes(int /*ranks*/) const override { return parameters_.bytes(); }
  void write(Run& run) override;
  void read(Run& run) override;
  [[nodiscard]] Handle open_file(Run& run) const override;
  [[nodiscard]] bool was_measured(int repeat, World& world, const Options& options) const override;
  void measured(Run& run, const Measured& result) override;

 private:
  // An open dataset of the run: most cases have many, of which one is open at a time.
  struct Open {
    std::string name;
    Handle id;
  };

  // Whether MPI-IO is what the file is opened with.
  [[nodiscard]] bool shared(Run& run) const;
  [[nodiscard]] Handle fapl(Run& run) const;
  [[nodiscard]] Handle dxpl(Run& run) const;
  void create_dataset(Run& run, const Handle& file, std::uint64_t step, const std::string& name,
                      Open& dataset) const;
  void open_dataset(Run& run, const Handle& file, const std::string& name, Open& dataset) const;
  void write_step(Run& run, const Handle& file, std::uint64_t step, Open& dataset);
  void read_step(Run& run, const Handle& file, std::uint64_t step, Open& dataset);
  // Calls action(the elements of a row in the buffer, the linear index of its first one among all
  // elements of all steps and arrays).
  template <typename Action>
  void each_row(int rank, std::uint64_t step, std::uint64_t array, const Action& action);
  void delay(Run& run) const;

  Parameters parameters_;
  std::vector<double> buffer_;
  // Seconds of this rank, from the first call to the last.
  double write_seconds_ = 0;
  double read_seconds_ = 0;
  bool wrote_ = false;
};

}  // namespace headrace::bench::iotest

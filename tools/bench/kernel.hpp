// What a kernel is: a list of workloads, each of which writes files and reads them back.
//
// A kernel is a source file or a folder in kernels/, and a row in kernels.def.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/report/json.hpp"

namespace CLI {
class App;
}

namespace headrace::bench {

class Handle;
class Run;
class World;
struct Measured;
struct Options;

// One case: a kernel with its parameters chosen. write() and read() are collective and are called
// in turn, as often as there are repeats; both throw Error.
class Workload {
 public:
  explicit Workload(std::string name) : name_(std::move(name)) {}
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;
  virtual ~Workload() = default;

  // Letters, digits, '-', '.' and '='.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] virtual JsonObject parameters() const = 0;
  // Payload over all ranks: what write() writes, and what read() reads.
  [[nodiscard]] virtual std::uint64_t bytes(int ranks) const = 0;
  [[nodiscard]] virtual std::uint64_t bytes_read(int ranks) const { return bytes(ranks); }
  // Makes run.file() and all else that belongs to it, and closes everything.
  virtual void write(Run& run) = 0;
  // Opens what write() has made, reads it all and compares it with what it must be.
  virtual void read(Run& run) = 0;
  // The main file, for reading. Collective.
  [[nodiscard]] virtual Handle open_file(Run& run) const;
  // Whether an earlier run has left a result of this repeat, so that it is not done again.
  // Collective.
  [[nodiscard]] virtual bool was_measured(int /*repeat*/, World& /*world*/,
                                          const Options& /*options*/) const {
    return false;
  }
  // Called after each repeat that is no warm-up and has succeeded. Collective.
  virtual void measured(Run& /*run*/, const Measured& /*result*/) {}

 private:
  std::string name_;
};

using Workloads = std::vector<std::unique_ptr<Workload>>;

class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;
  // Adds the kernel's options to its subcommand.
  virtual void add_options(CLI::App& app) = 0;
  // --quick: makes what the user has not set small, some 10 MB in all. Before add_options' values.
  virtual void shrink() = 0;
  // All cases that the options ask for. Throws Error for options that make no sense together.
  virtual Workloads workloads(int ranks) = 0;
};

struct KernelEntry {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Kernel> (*make)();
};

// The rows of kernels.def.
const std::vector<KernelEntry>& kernels();

}  // namespace headrace::bench

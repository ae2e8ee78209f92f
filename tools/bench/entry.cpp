// The entry of libheadrace_bench.so, called by the program once a libhdf5 is there.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/error.hpp"
#include "execute.hpp"
#include "hdf5.hpp"
#include "interrupt.hpp"

namespace headrace::bench {
namespace {

struct Choice {
  const KernelEntry* entry = nullptr;
  std::unique_ptr<Kernel> kernel;
};

// Each kernel is a subcommand; which was given is known once the command line is parsed, but its
// options must stand before.
std::vector<Choice> add_kernels(CLI::App& app, bool quick) {
  std::vector<Choice> all;
  for (const KernelEntry& entry : kernels()) {
    auto kernel = entry.make();
    if (quick) kernel->shrink();
    CLI::App* sub = app.add_subcommand(std::string(entry.name), std::string(entry.summary));
    sub->fallthrough();
    sub->option_defaults()->always_capture_default();
    kernel->add_options(*sub);
    all.push_back({&entry, std::move(kernel)});
  }
  return all;
}

bool has_flag(int argc, char** argv, std::string_view flag) {
  for (int i = 1; i < argc; ++i)
    if (argv[i] == flag) return true;
  return false;
}

const Choice& chosen(const CLI::App& app, const std::vector<Choice>& choices) {
  std::string names;
  for (const Choice& choice : choices) {
    if (app.got_subcommand(std::string(choice.entry->name))) return choice;
    names.append(" ").append(choice.entry->name);
  }
  throw Error("name a kernel:" + names);
}

int run(int argc, char** argv) {
  CLI::App app("Workloads on plain HDF5: time them under any connector");
  Options options;
  add_common_options(app, options);
  app.require_subcommand(0, 1);  // one: see chosen()
  std::vector<Choice> choices = add_kernels(app, has_flag(argc, argv, "--quick"));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const Choice& choice = chosen(app, choices);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  World world(options.mpi, options.subfiling);
  catch_signals();  // after MPI, which has handlers of its own
  Workloads workloads = choice.kernel->workloads(world.size());
  if (!options.list) return execute(choice.entry->name, workloads, world, options);
  list_cases(choice.entry->name, workloads, world, options);
  return 0;
}

}  // namespace
}  // namespace headrace::bench

extern "C" __attribute__((visibility("default"))) int headrace_bench_main(int argc, char** argv) {
  try {
    return headrace::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "headrace-bench: %s\n", error.what());
    return 2;
  }
}

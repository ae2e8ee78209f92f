// Runs the cases of a kernel: warm-up, repeats, samples.
#pragma once

#include "kernel.hpp"
#include "options.hpp"

namespace headrace::bench {

// Collective. Returns the program's exit status: 0, 1 when a case failed, 130 when interrupted.
int execute(std::string_view kernel, Workloads& workloads, World& world, const Options& options);

// Prints a JSON line per case: its name, parameters and payload.
void list_cases(std::string_view kernel, const Workloads& workloads, World& world,
                const Options& options);

}  // namespace headrace::bench

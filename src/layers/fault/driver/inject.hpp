// What happens to one operation: the faults themselves. Knows nothing of HDF5.
#pragma once

#include <optional>

#include "base/error.hpp"
#include "layers/fault/driver/plan.hpp"

namespace headrace::fault {

// How an operation is to go on.
struct Verdict {
  std::uint64_t bytes;  // of a transfer: how many to transfer
  std::optional<Error> error;

  [[nodiscard]] bool ok() const { return !error.has_value(); }
  // Throws the error, if there is one; call it when what is still to be done has been done.
  void raise() const {
    if (error) throw Error(*error);
  }
};

// The plan for these options. Files that are opened with the same options have one plan, and so one
// count of operations; it lives as long as the process. Throws Error. Called under HDF5's lock.
Plan& plan_for(const Options& options);

// Counts the operation, waits, cuts the power, ends the process and writes the journal, as the plan
// says. Note a change that the operation makes on its disk first: it may be part of what is lost.
// Called from any thread, within an UnderWay for a change of a file that has a disk.
Verdict inject(Plan& plan, const Operation& operation);

// The rank of this process as its launcher tells it; 0 without one.
int launched_rank();

}  // namespace headrace::fault

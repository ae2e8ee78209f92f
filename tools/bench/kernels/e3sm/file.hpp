// The history file: its attributes and a dataset for each variable.
#pragma once

#include "kernels/e3sm/plan.hpp"
#include "run.hpp"

namespace headrace::bench::e3sm {

// A char is a string of one byte, as in netCDF-4. The caller closes it.
Handle type_of(Type type);

struct HistoryFile {
  Handle file;
  std::vector<Handle> types;     // of plan.fields
  std::vector<Handle> datasets;  // of plan.fields

  void close();
};

// Collective. Datasets with a time have no record yet.
HistoryFile create_history(Run& run, const Plan& plan);
// Collective; throws Error when a dataset is not what it must be with that many records.
HistoryFile open_history(Run& run, const Plan& plan, hsize_t records);

}  // namespace headrace::bench::e3sm

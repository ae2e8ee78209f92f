#include "layers/tune/connector/rules/hints.hpp"

#include "base/report/log.hpp"
#include "comm/mpi_communicator.hpp"

namespace headrace::tune {

void add_hints(hid_t fapl, FileState& state) {
  if (state.options.hints.empty()) return;
  std::vector<const char*> pairs;
  std::string told;
  for (const auto& [key, value] : state.options.hints) {
    pairs.push_back(key.c_str());
    pairs.push_back(value.c_str());
    told.append(" ").append(key).append("=").append(value);
  }
  try {
    const MpiTable& mpi = mpi_module();
    check_mpi(
        mpi, "MPI_Info_set",
        mpi.set_hints(h5.get_mpi_params, h5.set_mpi_params, fapl, pairs.data(), pairs.size()));
  } catch (const Error& error) {  // they are hints
    log(Level::warning, "tune: " + state.name + " is opened without" + told + ": " + error.what());
    return;
  }
  statistics().lists += state.options.hints.size();
  log(Level::info, "tune: hints of " + state.name + ":" + told);
}

}  // namespace headrace::tune

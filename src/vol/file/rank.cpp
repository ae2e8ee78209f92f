#include "vol/file/rank.hpp"

#include "base/report/log.hpp"
#include "comm/mpi_module.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/own_question.hpp"

namespace headrace::vol {

std::optional<Rank> rank_in(void* under_file, const UnderConnector& connector, hid_t fapl,
                            hid_t dxpl) {
  if (!report_wanted() || h5.mpio_driver == nullptr || h5.Pget_driver(fapl) != h5.mpio_driver())
    return std::nullopt;
  // Its MPI_File. Asking the property list for its communicator would be simpler, but HDF5 returns
  // a duplicate, and making one is collective.
  const void* const file = driver_handle(under_file, connector, fapl, dxpl);
  if (file == nullptr) return std::nullopt;
  try {
    Rank rank;
    if (mpi_module().place_in_file(file, &rank.rank, &rank.ranks) == 0) return rank;
  } catch (const std::exception& error) {
    log(Level::warning, std::string("no ranks in the report: ") + error.what());
  }
  return std::nullopt;
}

}  // namespace headrace::vol

#include "vol/file/rank.hpp"

#include "base/report/log.hpp"
#include "comm/mpi_module.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/own_question.hpp"

namespace headrace::vol {
namespace {

// The driver's MPI_File. Asking the property list for its communicator would be simpler, but HDF5
// returns a duplicate, and making one is collective.
const void* mpi_file_of(void* under_file, const UnderConnector& connector, hid_t fapl, hid_t dxpl) {
  void* handle = nullptr;
  H5VL_native_file_optional_args_t native{};
  native.get_vfd_handle = {fapl, &handle};
  H5VL_optional_args_t args{H5VL_NATIVE_FILE_GET_VFD_HANDLE, &native};
  const OwnQuestion question;
  const PrivateErrors own;  // the file is open: nothing that the program asked for has failed
  if (h5.VLfile_optional(under_file, connector.id(), &args, dxpl, nullptr) >= 0) return handle;
  return nullptr;
}

}  // namespace

std::optional<Rank> rank_in(void* under_file, const UnderConnector& connector, hid_t fapl,
                            hid_t dxpl) {
  if (!report_wanted() || h5.mpio_driver == nullptr || h5.Pget_driver(fapl) != h5.mpio_driver())
    return std::nullopt;
  const void* file = mpi_file_of(under_file, connector, fapl, dxpl);
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

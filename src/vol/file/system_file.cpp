#include "vol/file/system_file.hpp"

#include <sys/stat.h>

#include "engine/cache/shared/writers.hpp"
#include "engine/io/file_identity.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/file/placed_driver.hpp"
#include "vol/own_question.hpp"
#include "vol/under.hpp"

namespace headrace::vol {

bool has_descriptor(hid_t fapl) {
  const PrivateErrors own;
  const hid_t driver = h5.Pget_driver(fapl);
  if (driver == h5.sec2_driver()) return true;
  const PlacedDriver* const ours = placed_driver(driver);
  return ours != nullptr && !ours->parallel;
}

std::optional<int> descriptor_of(void* under_file, const UnderConnector& connector) {
  const PrivateErrors own;  // the file is open: nothing that the program asked for has failed
  void* handle = nullptr;
  H5VL_native_file_optional_args_t native{};
  native.get_vfd_handle = {kDefaultPlist, &handle};
  H5VL_optional_args_t args{H5VL_NATIVE_FILE_GET_VFD_HANDLE, &native};
  const OwnQuestion question;
  if (call_under<Callback::file_optional>(connector, under_file, &args, h5.transfer_list.get(),
                                          nullptr) < 0 ||
      handle == nullptr)
    return std::nullopt;
  return *static_cast<int*>(handle);
}

void tell_of_writing(void* under_file, UnderConnector& connector, hid_t fapl) {
  if (connector.direct() != nullptr && connector.native() == nullptr) return;  // that one tells
  const PrivateErrors own;
  if (!has_descriptor(fapl)) return;
  const auto descriptor = descriptor_of(under_file, connector);
  if (!descriptor) return;
  struct stat status{};
  if (::fstat(*descriptor, &status) != 0) return;
  const engine::io::FileIdentity file{status.st_dev, status.st_ino, 0};
  connector.writing = std::make_shared<engine::cache::Writing>(file);
}

}  // namespace headrace::vol

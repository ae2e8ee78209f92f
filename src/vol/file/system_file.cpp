#include "vol/file/system_file.hpp"

#include <sys/stat.h>

#include "engine/cache/shared/writers.hpp"
#include "engine/io/file_identity.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/file/placed_driver.hpp"
#include "vol/own_question.hpp"

namespace headrace::vol {

bool has_descriptor(hid_t fapl) {
  const PrivateErrors own;
  const hid_t driver = h5.Pget_driver(fapl);
  if (driver == h5.sec2_driver()) return true;
  const PlacedDriver* const ours = placed_driver(driver);
  return ours != nullptr && !ours->parallel;
}

std::optional<int> descriptor_of(void* under_file, const UnderConnector& connector) {
  void* const handle = driver_handle(under_file, connector, kDefaultPlist, h5.transfer_list.get());
  if (handle == nullptr) return std::nullopt;
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

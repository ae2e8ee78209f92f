#include "hdf5/driver_config.hpp"

#include "hdf5/quiet_errors.hpp"

namespace headrace {

std::string driver_config(hid_t fapl) {
  const Aside aside;
  const ssize_t length = h5.Pget_driver_config_str(fapl, nullptr, 0);
  if (length <= 0) {
    const void* info = h5.Pget_driver_info(fapl);
    return info == nullptr ? std::string() : static_cast<const char*>(info);
  }
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  if (h5.Pget_driver_config_str(fapl, text.data(), text.size()) < 0) return {};
  text.resize(static_cast<std::size_t>(length));
  return text;
}

}  // namespace headrace

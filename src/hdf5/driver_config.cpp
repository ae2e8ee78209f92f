#include "hdf5/driver_config.hpp"

#include <set>

#include "hdf5/quiet_errors.hpp"

namespace headrace {

std::string driver_config(hid_t fapl) {
  const PrivateErrors own;
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

herr_t set_driver(hid_t fapl, const std::string& name, const char* config) {
  // HDF5 keeps the address of the name with the plug-in that it finds, and compares names with what
  // is there as long as the process lives (H5PL__add_plugin). So they are leaked.
  static auto& names = *new std::set<std::string>;
  return h5.Pset_driver_by_name(fapl, names.insert(name).first->c_str(), config);
}

}  // namespace headrace

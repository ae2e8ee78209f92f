#include "hdf5/driver_config.hpp"

#include <array>
#include <map>
#include <set>

#include "hdf5/access_list.hpp"
#include "hdf5/id.hpp"
#include "hdf5/lifecycle.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace {

std::string driver_config(hid_t fapl) {
  const PrivateErrors own;
  std::array<char, 512> usual{};
  const ssize_t length = h5.Pget_driver_config_str(fapl, usual.data(), usual.size());
  if (length <= 0) {
    const void* info = h5.Pget_driver_info(fapl);
    return info == nullptr ? std::string() : static_cast<const char*>(info);
  }
  const auto size = static_cast<std::size_t>(length);
  if (size < usual.size()) return {usual.data(), size};
  std::string text(size + 1, '\0');
  if (h5.Pget_driver_config_str(fapl, text.data(), text.size()) < 0) return {};
  text.resize(size);
  return text;
}

herr_t set_driver(hid_t fapl, const std::string& name, const char* config) {
  // HDF5 keeps the address of the name with the plug-in that it finds, and compares names with what
  // is there as long as the process lives (H5PL__add_plugin). So they are leaked.
  static auto& names = *new std::set<std::string>;
  return h5.Pset_driver_by_name(fapl, names.insert(name).first->c_str(), config);
}

hid_t driver_named(const std::string& name) {
  static auto& drivers = *new std::map<std::string, hid_t>;  // HDF5 that begins anew has others
  if (const auto known = drivers.find(name); known != drivers.end()) return known->second;
  const PrivateErrors own;
  const Id<Kind::plist> list(h5.Pcopy(h5.access_list.get()));
  if (set_driver(list.get(), name, nullptr) < 0) return kInvalidId;
  const hid_t driver = h5.Pget_driver(list.get());
  h5.Iinc_ref(driver);  // until HDF5 ends
  drivers.emplace(name, driver);
  before_library_ends({[] { return !drivers.empty(); }, [] { drivers.clear(); }});
  return driver;
}

}  // namespace headrace

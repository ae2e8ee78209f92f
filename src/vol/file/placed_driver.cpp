#include "vol/file/placed_driver.hpp"

#include <map>

#include "hdf5/lifecycle.hpp"

namespace headrace::vol {
namespace {

std::map<hid_t, PlacedDriver>& placed() {
  static auto& drivers = *new std::map<hid_t, PlacedDriver>();
  return drivers;
}

}  // namespace

const PlacedDriver* placed_driver(hid_t driver) {
  const auto found = placed().find(driver);
  return found == placed().end() ? nullptr : &found->second;
}

// HDF5 that begins anew has other ids.
void note_placed(hid_t driver, const PlacedDriver& as) {
  if (placed().empty())
    before_library_ends({[] { return !placed().empty(); }, [] { placed().clear(); }});
  placed().insert_or_assign(driver, as);
}

}  // namespace headrace::vol

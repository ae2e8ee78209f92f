// A property that a list has for a while. HDF5 copies a file access property list, and frees the
// copy, in a twentieth of the time that it takes to open a small file; a layer would do so twice or
// more.
#pragma once

#include <array>
#include <cstddef>

#include "hdf5/api.hpp"

namespace headrace {

// While it lives, the list has that value, which stays the caller's: HDF5 neither copies nor frees
// it. Only for calls that do not return to the program, on its thread.
class LentProperty {
 public:
  using Value = std::array<const void*, 3>;  // as it lies in a list; unused words are null

  // The connector and the driver of a file access property list, see connector_value() and
  // driver_value().
  static constexpr const char* kConnector = "vol_connector_info";
  static constexpr const char* kDriver = "vfd_info";

  // Whether this HDF5 is one whose lists are known to lie so, and no other thread can see the list.
  static bool possible();

  LentProperty() = default;
  LentProperty(const LentProperty&) = delete;
  LentProperty& operator=(const LentProperty&) = delete;
  ~LentProperty() { give_back(); }
  // False, and nothing is lent, when HDF5 does not take it.
  [[nodiscard]] bool lend(hid_t list, const char* name, const Value& value);
  void give_back();

 private:
  void* list_ = nullptr;
  const char* name_ = nullptr;
  Value before_{};
};

// What a list has for a connector that it was given by H5Pset_vol, without its info: that is to be
// the second word. All null when HDF5 does not tell. Good as long as the caller has a reference to
// it.
LentProperty::Value connector_value(hid_t connector);

// The same for a driver with that configuration string, which the caller keeps; null is none.
LentProperty::Value driver_value(hid_t driver, const char* config);

}  // namespace headrace

// Objects that the layer opens on its own account.
#pragma once

#include "layers/log/connector/opening/marker.hpp"

namespace headrace::log_layout {

// An object of the connector below: a dataset, a group or a committed datatype.
class OpenedObject {
 public:
  // Null below when there is no such object. `where`: as seen from `from`, an object of that
  // connector.
  OpenedObject(const vol::BelowFile& from, const H5VL_loc_params_t& where);
  OpenedObject(const OpenedObject&) = delete;
  OpenedObject& operator=(const OpenedObject&) = delete;
  ~OpenedObject() { close(); }

  [[nodiscard]] void* under() const { return under_; }
  [[nodiscard]] H5I_type_t type() const { return type_; }
  // Whether it is in the file with that number.
  [[nodiscard]] bool in_file(unsigned long number) const {
    return known_ && info_.fileno == number;
  }
  [[nodiscard]] const H5O_token_t& token() const { return info_.token; }
  // Once; false when HDF5 says that not all of it is in the file.
  bool close();

 private:
  void* under_ = nullptr;
  hid_t connector_;
  H5I_type_t type_ = H5I_BADID;
  H5O_info2_t info_{};
  bool known_ = false;  // HDF5 has told that
};

}  // namespace headrace::log_layout

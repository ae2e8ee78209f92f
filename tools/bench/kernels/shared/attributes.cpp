#include "kernels/shared/attributes.hpp"

#include <algorithm>

namespace headrace::bench {

void write_attribute(hid_t object, const std::string& name, hid_t type, hid_t space,
                     const void* value) {
  Handle attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                   H5Aclose, "create attribute " + name);
  check(H5Awrite(attribute.get(), type, value), "write attribute " + name);
  attribute.close();
}

void write_text(hid_t object, const std::string& name, std::string_view text, std::size_t size) {
  std::string padded(text);
  padded.resize(std::max(size, text.size() + 1));
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "string type");
  check(H5Tset_size(type.get(), padded.size()), "string type");
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose, "dataspace");
  write_attribute(object, name, type.get(), space.get(), padded.data());
}

}  // namespace headrace::bench

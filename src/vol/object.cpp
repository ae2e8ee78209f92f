#include "vol/object.hpp"

#include "base/log.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::vol {

UnderConnector::~UnderConnector() {
  try {
    throw_deferred();
  } catch (const std::exception& error) {
    log(Level::error,
        std::string("not told to the program, which had closed the file: ") + error.what());
  } catch (...) {
    log(Level::error, "an error was not told to the program, which had closed the file");
  }
}

// A library for threads has locks that its H5VL functions take and give back around a connector.
void UnderConnector::look_below(void* under_file) {
  const PrivateErrors own;
  const H5VL_class_t* found = nullptr;
  if (!library.thread_safe &&
      h5.VLintrospect_get_conn_cls(under_file, id(), H5VL_GET_CONN_LVL_CURR, &found) >= 0 &&
      found != nullptr && found->value == H5_VOL_NATIVE && found->version == H5VL_VERSION)
    native_ = found;
}

void UnderConnector::require_same(const UnderConnector& other) const {
  if (id() == other.id()) return;
  const PrivateErrors own;
  int differ = 1;
  if (h5.VLcmp_connector_cls(&differ, id(), other.id()) < 0 || differ != 0)
    throw Error("the two files have different connectors below");
}

}  // namespace headrace::vol

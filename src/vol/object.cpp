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

void UnderConnector::require_same(const UnderConnector& other) const {
  if (id() == other.id()) return;
  const Aside aside;
  int differ = 1;
  if (h5.VLcmp_connector_cls(&differ, id(), other.id()) < 0 || differ != 0)
    throw Error("the two files have different connectors below");
}

}  // namespace headrace::vol

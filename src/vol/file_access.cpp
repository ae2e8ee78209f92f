#include "vol/file_access.hpp"

#include "hdf5/quiet_errors.hpp"
#include "hdf5/wheel_filters.hpp"

namespace headrace::vol {
namespace {

Id<Kind::plist> copy_of(hid_t plist) {
  Id<Kind::plist> copy(h5.Pcopy(plist));
  if (!copy) throw Error("the file access property list cannot be copied");
  return copy;
}

void set_driver(hid_t fapl, const std::string& name) {
  const Aside aside;  // h5py shows the first record only: ours tells more
  if (h5.Pset_driver_by_name(fapl, name.c_str(), nullptr) < 0)
    throw Error("file driver " + name + " cannot be loaded; is its plug-in in HDF5_PLUGIN_PATH?");
}

bool has_driver(hid_t fapl, const std::string& name) {
  const Aside aside;
  const Id<Kind::plist> probe = copy_of(fapl);
  return h5.Pset_driver_by_name(probe.get(), name.c_str(), nullptr) >= 0 &&
         h5.Pget_driver(probe.get()) == h5.Pget_driver(fapl);
}

}  // namespace

std::string replacement(hid_t fapl, const DriverSeat& seat) {
  if (seat.serial.empty()) return {};
  const hid_t driver = h5.Pget_driver(fapl);
  if (driver == h5.sec2_driver()) return seat.serial;
  if (h5.mpio_driver != nullptr && driver == h5.mpio_driver()) return seat.parallel;
  return {};  // core, family, a driver of the program's own: not ours to replace
}

Id<Kind::plist> with_driver(hid_t fapl, const std::string& name) {
  Id<Kind::plist> copy = copy_of(fapl);
  set_driver(copy.get(), name);
  return copy;
}

FileAccess::FileAccess(hid_t fapl, const Layer& layer)
    : info_(info_of(fapl, layer)),
      connector_(std::make_shared<UnderConnector>(*info_->connector)),
      fapl_(copy_of(fapl)) {
  require_environment();
  restore_wheel_filters();
  if (h5.Pset_vol(fapl_.get(), info_->connector->id(), info_->under.get()) < 0)
    throw Error("the connector below cannot be set on the file access property list");
  const std::string driver = replacement(fapl_.get(), info_->connector->seat());
  if (!driver.empty()) set_driver(fapl_.get(), driver);
}

void hide_driver(hid_t fapl, const DriverSeat& seat) {
  if (seat.serial.empty()) return;
  if (has_driver(fapl, seat.serial))
    h5.Pset_driver(fapl, h5.sec2_driver(), nullptr);
  else if (h5.mpio_driver != nullptr && has_driver(fapl, seat.parallel))
    h5.Pset_driver(fapl, h5.mpio_driver(), nullptr);
}

}  // namespace headrace::vol

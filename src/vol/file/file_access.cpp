#include "vol/file/file_access.hpp"

#include <map>

#include "comm/agreement.hpp"
#include "hdf5/access_list.hpp"
#include "hdf5/driver_config.hpp"
#include "hdf5/quiet_errors.hpp"
#include "hdf5/wheel_filters.hpp"
#include "vol/file/file_facts.hpp"

namespace headrace::vol {
namespace {

// A driver that a layer of ours has put into a list.
struct Placed {
  std::string name;
  bool parallel;
};

// By id: HDF5 does not tell the name of a list's driver. Needed until the process ends.
std::map<hid_t, Placed>& placed() {
  static auto& drivers = *new std::map<hid_t, Placed>();
  return drivers;
}

void place(hid_t fapl, const Placed& driver, const std::string& config) {
  const PrivateErrors own;  // h5py shows the first record only: ours tells more
  if (set_driver(fapl, driver.name, config.c_str()) < 0)
    throw Error("file driver " + driver.name +
                " cannot be loaded; is its plug-in in HDF5_PLUGIN_PATH?");
  placed().insert_or_assign(h5.Pget_driver(fapl), driver);
}

bool has_driver(hid_t fapl, const std::string& name) {
  const PrivateErrors own;
  const Id<Kind::plist> probe = copy_access_list(fapl);
  return set_driver(probe.get(), name, nullptr) >= 0 &&
         h5.Pget_driver(probe.get()) == h5.Pget_driver(fapl);
}

}  // namespace

Id<Kind::plist> with_driver(hid_t fapl, const DriverSeat& seat) {
  if (seat.serial.empty()) return {};
  const hid_t driver = h5.Pget_driver(fapl);
  Id<Kind::plist> copy = copy_access_list(fapl);
  if (driver == h5.sec2_driver()) {
    place(copy.get(), {seat.serial, false}, seat.config);
  } else if (h5.mpio_driver != nullptr && driver == h5.mpio_driver()) {
    if (seat.parallel.empty()) return {};
    place(copy.get(), {seat.parallel, true}, seat.config);
  } else {
    const auto above = placed().find(driver);
    // core, family, a driver of the program's own: not ours to replace
    if (above == placed().end() || !has_driver(fapl, above->second.name)) return {};
    const Placed top = above->second;
    const std::string& name = top.parallel ? seat.parallel : seat.serial;
    if (name.empty()) return {};
    place(copy.get(), top, put_below(driver_config(fapl), name, seat.config));
  }
  return copy;
}

FileAccess::FileAccess(hid_t fapl, const Layer& layer) {
  const auto malformed = error_of([&] {
    info_ = info_of(fapl, layer);
    require_environment();
  });
  // Before the list is copied, which ranks do together: those with well formed settings would wait.
  if (const CommunicatorHandle ranks = ranks_of(fapl)) agree(*ranks, malformed);
  if (malformed != nullptr) std::rethrow_exception(malformed);
  connector_ = std::make_shared<UnderConnector>(*info_->connector);
  fapl_ = copy_access_list(fapl);
  restore_wheel_filters();
  if (h5.Pset_vol(fapl_.get(), info_->connector->id(), info_->under.get()) < 0)
    throw Error("the connector below cannot be set on the file access property list");
  if (Id<Kind::plist> ours = with_driver(fapl_.get(), info_->connector->seat()))
    fapl_ = std::move(ours);
}

void hide_driver(hid_t fapl, const DriverSeat& seat) {
  if (seat.serial.empty()) return;
  if (has_driver(fapl, seat.serial))
    h5.Pset_driver(fapl, h5.sec2_driver(), nullptr);
  else if (h5.mpio_driver != nullptr && has_driver(fapl, seat.parallel))
    h5.Pset_driver(fapl, h5.mpio_driver(), nullptr);
}

}  // namespace headrace::vol

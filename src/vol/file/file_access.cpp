#include "vol/file/file_access.hpp"

#include "comm/agreement.hpp"
#include "hdf5/access_list.hpp"
#include "hdf5/driver_config.hpp"
#include "hdf5/filters/wheel_filters.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/file/file_facts.hpp"
#include "vol/file/placed_driver.hpp"

namespace headrace::vol {
namespace {

[[noreturn]] void fail_to_load(const std::string& driver) {
  throw Error("file driver " + driver + " cannot be loaded; is its plug-in in HDF5_PLUGIN_PATH?");
}

void place(hid_t fapl, const PlacedDriver& driver, const std::string& config) {
  const PrivateErrors own;  // h5py shows the first record only: ours tells more
  if (set_driver(fapl, driver.name, config.c_str()) < 0) fail_to_load(driver.name);
  note_placed(h5.Pget_driver(fapl), driver);
}

bool has_driver(hid_t fapl, const std::string& name) {
  const PlacedDriver* const placed = placed_driver(h5.Pget_driver(fapl));
  return placed != nullptr && placed->name == name;
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
    const PlacedDriver* const above = placed_driver(driver);
    // core, family, a driver of the program's own: not ours to replace
    if (above == nullptr) return {};
    const PlacedDriver top = *above;
    const std::string& name = top.parallel ? seat.parallel : seat.serial;
    if (name.empty()) return {};
    place(copy.get(), top, put_below(driver_config(fapl), name, seat.config));
  }
  return copy;
}

FileAccess::FileAccess(hid_t fapl, const Layer& layer) : fapl_(fapl) {
  const auto malformed = error_of([&] {
    info_ = std::make_unique<InfoOfList>(fapl, layer);
    require_environment();
  });
  // Before the list is copied, which ranks do together: those with well formed settings would wait.
  if (const CommunicatorHandle ranks = ranks_of(fapl)) agree(*ranks, malformed);
  if (malformed != nullptr) std::rethrow_exception(malformed);
  connector_ = std::make_shared<UnderConnector>(*(*info_)->connector);
  restore_wheel_filters();
  if (!lend()) copy();
}

// In place of sec2, or below the driver of a layer above.
bool FileAccess::lend_driver() {
  const DriverSeat& seat = connector_->seat();
  if (seat.serial.empty()) return true;
  hid_t driver = h5.Pget_driver(fapl_);
  if (driver == h5.sec2_driver()) {
    driver = driver_named(seat.serial);
    if (driver < 0) fail_to_load(seat.serial);
    note_placed(driver, {seat.serial, false});
    config_ = seat.config;
  } else if (placed_driver(driver) != nullptr) {
    config_ = put_below(driver_config(fapl_), seat.serial, seat.config);
  } else {
    return true;  // core, family, a driver of the program's own: not ours to replace
  }
  return driver_.lend(fapl_, LentProperty::kDriver, driver_value(driver, config_.c_str()));
}

// Where no rank waits for others.
bool FileAccess::lend() {
  if (!LentProperty::possible() || is_parallel(fapl_) || !lend_driver()) return false;
  const auto below = connector_->in_list((*info_)->under.get());
  if (below && below_.lend(fapl_, LentProperty::kConnector, *below)) return true;
  driver_.give_back();
  return false;
}

void FileAccess::copy() {
  copy_ = copy_access_list(fapl_);
  if (h5.Pset_vol(copy_.get(), connector_->id(), (*info_)->under.get()) < 0)
    throw Error("the connector below cannot be set on the file access property list");
  if (Id<Kind::plist> ours = with_driver(copy_.get(), connector_->seat())) copy_ = std::move(ours);
}

hid_t FileAccess::own_fapl() {
  if (!copy_) {
    below_.give_back();
    driver_.give_back();
    copy();
  }
  return copy_.get();
}

void hide_driver(hid_t fapl, const DriverSeat& seat) {
  if (seat.serial.empty()) return;
  if (has_driver(fapl, seat.serial))
    h5.Pset_driver(fapl, h5.sec2_driver(), nullptr);
  else if (h5.mpio_driver != nullptr && has_driver(fapl, seat.parallel))
    h5.Pset_driver(fapl, h5.mpio_driver(), nullptr);
}

}  // namespace headrace::vol

#include "vol/file/file_access.hpp"

#include <map>

#include "comm/agreement.hpp"
#include "hdf5/access_list.hpp"
#include "hdf5/driver_config.hpp"
#include "hdf5/filters/wheel_filters.hpp"
#include "hdf5/lifecycle.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/file/file_facts.hpp"

namespace headrace::vol {
namespace {

// A driver that a layer of ours has put into a list.
struct Placed {
  std::string name;
  bool parallel;
};

// By id: HDF5 does not tell the name of a list's driver. HDF5 that begins anew has others.
std::map<hid_t, Placed>& placed() {
  static auto& drivers = *new std::map<hid_t, Placed>();
  return drivers;
}

void note_placed(hid_t driver, const Placed& as) {
  if (placed().empty())
    before_library_ends({[] { return !placed().empty(); }, [] { placed().clear(); }});
  placed().insert_or_assign(driver, as);
}

[[noreturn]] void fail_to_load(const std::string& driver) {
  throw Error("file driver " + driver + " cannot be loaded; is its plug-in in HDF5_PLUGIN_PATH?");
}

void place(hid_t fapl, const Placed& driver, const std::string& config) {
  const PrivateErrors own;  // h5py shows the first record only: ours tells more
  if (set_driver(fapl, driver.name, config.c_str()) < 0) fail_to_load(driver.name);
  note_placed(h5.Pget_driver(fapl), driver);
}

bool has_driver(hid_t fapl, const std::string& name) {
  const auto found = placed().find(h5.Pget_driver(fapl));
  return found != placed().end() && found->second.name == name;
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
    if (above == placed().end()) return {};
    const Placed top = above->second;
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

// Where nothing but sec2 would have to make room for the seat's driver, and no rank waits for
// others.
bool FileAccess::lend() {
  if (!LentProperty::possible() || is_parallel(fapl_)) return false;
  const DriverSeat& seat = connector_->seat();
  const hid_t driver = h5.Pget_driver(fapl_);
  const bool replaces = !seat.serial.empty() && driver == h5.sec2_driver();
  if (!seat.serial.empty() && !replaces && placed().contains(driver)) return false;
  if (replaces) {
    const hid_t ours = driver_named(seat.serial);
    if (ours < 0) fail_to_load(seat.serial);
    note_placed(ours, {seat.serial, false});
    if (!driver_.lend(fapl_, LentProperty::kDriver, driver_value(ours, seat.config.c_str())))
      return false;
  }
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

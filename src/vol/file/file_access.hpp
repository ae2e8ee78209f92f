// The access property list that the connector below gets: with its own VOL info, and with our
// driver where the layer has a seat at both ends.
#pragma once

#include <memory>
#include <string>

#include "vol/file/info.hpp"

namespace headrace::vol {

// While it lives, what was on the error stack is kept aside; the records of the file operation that
// it was made for come on top of it in the end. The list for below is the program's own, changed
// for as long, where that can be (hdf5/lent_property.hpp), else a copy.
class FileAccess {
 public:
  // Throws Error when the list's connection string was malformed.
  FileAccess(hid_t fapl, const Layer& layer);
  [[nodiscard]] hid_t under_fapl() const { return copy_ ? copy_.get() : fapl_; }
  // The same, for changes of other properties: a copy from now on.
  [[nodiscard]] hid_t own_fapl();
  // The layer's own for this file. The list has those of the layer below, meanwhile.
  [[nodiscard]] const Options& options() const { return (*info_)->options; }
  // New for this file.
  [[nodiscard]] const UnderRef& connector() const { return connector_; }

 private:
  [[nodiscard]] bool lend();
  [[nodiscard]] bool lend_driver();
  void copy();

  ErrorStackKeeper keep_;
  hid_t fapl_;
  std::unique_ptr<InfoOfList> info_;
  UnderRef connector_;
  Id<Kind::plist> copy_;
  LentProperty below_;
  std::string config_;  // of the driver that is lent
  LentProperty driver_;
};

// A copy of the list with the seat's driver in place of sec2 or mpio, or below the driver that a
// layer above has put there; none where the list's driver is not ours to touch. Throws Error when
// ours cannot be loaded.
Id<Kind::plist> with_driver(hid_t fapl, const DriverSeat& seat);

// Undoes the driver part on a list that HDF5 returns to the program, which then sees the driver
// that it had asked for.
void hide_driver(hid_t fapl, const DriverSeat& seat);

}  // namespace headrace::vol

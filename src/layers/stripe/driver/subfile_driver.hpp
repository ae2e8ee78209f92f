// The driver that opens subfiles: what lies below the layer, as for a process that has a file
// alone.
#pragma once

#include "vfd/file.hpp"

namespace headrace::stripe {

// A file access property list with the serial drivers of the chain below that `fapl` names. Local:
// nothing of the communicator in `fapl` is copied.
class SubfileAccess {
 public:
  // Throws Error.
  SubfileAccess(hid_t fapl, const vfd::Layer& layer);
  [[nodiscard]] hid_t get() const { return list_.get(); }
  // Whether it is HDF5's default driver, which does nothing but to read and write.
  [[nodiscard]] bool is_plain() const { return plain_; }

 private:
  Id<Kind::plist> list_;  // none where plain
  bool plain_ = false;
};

}  // namespace headrace::stripe

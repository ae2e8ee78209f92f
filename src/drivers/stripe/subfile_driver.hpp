// The driver that opens subfiles: what lies below the layer, as for a process that has a file
// alone.
#pragma once

#include "vfd/file.hpp"

namespace headrace::stripe {

// A file access property list with the serial drivers of the chain below that `fapl` names. Local:
// nothing of the communicator in `fapl` is copied. Throws Error.
Id<Kind::plist> subfile_access(hid_t fapl, const vfd::Layer& layer);

}  // namespace headrace::stripe

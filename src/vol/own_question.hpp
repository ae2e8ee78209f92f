// What a connector asks of those below on its own account, by calls that a program makes, too.
#pragma once

#include "base/call_scope.hpp"
#include "vol/object.hpp"

namespace headrace::vol {

// While it lives the connectors below take calls for questions of the layer above, not of the
// program. The application's thread only.
struct OwnQuestion : CallScope<OwnQuestion> {};

// What the driver of an open file gives for its get_handle, by such a question; null where it gives
// nothing. No errors are left.
void* driver_handle(void* under_file, const UnderConnector& connector, hid_t fapl, hid_t dxpl);

// The same, for what a driver of ours tells that finds a CallScope of its layer.
inline void ask_driver(const Object& file) {
  driver_handle(file.under, *file.connector, kDefaultPlist, h5.transfer_list.get());
}

}  // namespace headrace::vol

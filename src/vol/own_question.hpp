// What a connector asks of those below on its own account, by calls that a program makes, too.
#pragma once

#include "base/call_scope.hpp"
#include "vol/object.hpp"

namespace headrace::vol {

// While it lives the connectors below take calls for questions of the layer above, not of the
// program. The application's thread only.
struct OwnQuestion : CallScope<OwnQuestion> {};

// Has HDF5 call get_handle of the driver of an open file, as such a question: a driver of ours that
// finds a CallScope of its layer tells there what its connector wants to know. No errors are left.
void ask_driver(const Object& file);

}  // namespace headrace::vol

// What a connector asks of those below on its own account, by calls that a program makes, too.
#pragma once

#include "base/call_scope.hpp"

namespace headrace::vol {

// While it lives the connectors below take calls for questions of the layer above, not of the
// program. The application's thread only.
struct OwnQuestion : CallScope<OwnQuestion> {};

}  // namespace headrace::vol

// Where a process stands among those that opened a file together.
#pragma once

#include <optional>

#include "hdf5/report/events.hpp"
#include "vol/object.hpp"

namespace headrace::vol {

// For the report, so only when one is wanted, and only when the driver of `fapl`, which the program
// opened the file with, is mpio. Local, so that a report may be wanted on some ranks only; what it
// cannot learn it leaves out, and tells the log.
std::optional<Rank> rank_in(void* under_file, const UnderConnector& connector, hid_t fapl,
                            hid_t dxpl);

}  // namespace headrace::vol

// Which writes of files of one process go to their log, and what becomes of those that do not.
#pragma once

#include "vol/dataset/transfer.hpp"

namespace headrace::log_layout {

// Whether all data of a call is in the log now. Else nothing is, and HDF5 must do it, or tell what
// is wrong.
bool log_writes(const vol::Writes& writes);

}  // namespace headrace::log_layout

// Reads of what a log of this program holds.
#pragma once

#include "layers/log/connector/reading/read.hpp"

namespace headrace::log_layout {

// A small read of one dataset that writes are logged of, through the log: what is in it stays
// there. False where HDF5 is to get that first, as what it reads is much, or it has to say what is
// wrong.
bool read_logged(const Read& read);

}  // namespace headrace::log_layout

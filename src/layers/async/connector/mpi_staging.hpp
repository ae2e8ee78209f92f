// What the connector tells the driver over mpio: which data is the program's, and when all must be
// in the file.
#pragma once

#include <optional>

#include "layers/async/driver/program_buffers.hpp"
#include "vol/dataset/transfer.hpp"

namespace headrace::async {

// Marks the program's buffers in `scope`, for an H5Dwrite, when some file is staged over MPI.
void mark_buffers(std::optional<ProgramBuffers>& scope, const vol::Writes& writes);

// An object without a name was made, or one was unlinked: closing an object may free its space from
// now on, which other data may then be put into.
void note_unlinked();
// Before an object is closed.
void drain_before_close();

}  // namespace headrace::async

// Datasets that the program has closed while their chunks were still to be stored. The
// application's thread only.
#pragma once

#include "layers/async/connector/dataset.hpp"

namespace headrace::async {

// Takes over what is below the handle, so that the program's close can return; false when nothing
// of the dataset waits for being stored or read through this handle, too many wait already, or the
// file is complete with this close: the program has closed it before.
bool close_behind(vol::Object& object) noexcept;

// Closes those all of whose chunks are stored and read. What fails is told by the next flush or
// close of the file.
void close_stored() noexcept;

[[nodiscard]] bool any_closing();

}  // namespace headrace::async

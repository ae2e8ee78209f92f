// From the log to the dataset.
#pragma once

#include "connectors/log/dataset.hpp"
#include "engine/log/layers.hpp"

namespace headrace::log_layout {

// Writes what the layers hold of the dataset through its handle, in as large pieces as memory
// allows; of a chunked one whole chunks, and only those that something was written to. Throws
// Error.
void replay(Dataset& dataset, const engine::log::Layers& layers);

// Throws Error unless all that the layers hold is in the dataset.
void verify(Dataset& dataset, const engine::log::Layers& layers);

}  // namespace headrace::log_layout

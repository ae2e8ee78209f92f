// What a log says of a dataset, so that its writes come into no other.
#pragma once

#include <string>

#include "engine/log/index.hpp"
#include "layers/log/connector/file/dataset.hpp"

namespace headrace::log_layout {

// Of one whose extent is known.
engine::log::LoggedDataset logged_as(const Dataset& dataset, std::string name);

// Throws Error, which tells what both are, unless the dataset of `file` is as the log says, and
// holds all of the layers.
void require_fit(const Dataset& dataset, const engine::log::LoggedDataset& logged,
                 const engine::log::LoggedWrites& writes, const std::string& file);

}  // namespace headrace::log_layout

// All of a log but its data: whoever gets it from the log's writer reads no more of the log than
// the data that it needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/io/file.hpp"
#include "engine/log/reader.hpp"

namespace headrace::engine::log {

// For processes that run the same program: numbers are the machine's. Throws Error.
std::vector<std::byte> outline_of(const Reader& reader);

// The log, for a Reader: what the outline has is not read from `file`. Throws Error when the
// outline is none.
std::unique_ptr<io::File> outlined(std::vector<std::byte> outline, std::unique_ptr<io::File> file);

}  // namespace headrace::engine::log

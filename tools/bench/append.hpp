// Where samples go.
#pragma once

#include <string>

namespace headrace::bench {

// Appends the line in one write, or prints it when `path` is empty. Throws Error.
void append_sample(const std::string& path, const std::string& line);

}  // namespace headrace::bench

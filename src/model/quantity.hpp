// Sizes and durations as people read them, and numbers as JSON has them.
#pragma once

#include <string>
#include <string_view>

namespace headrace::model {

// Seconds of a duration such as "500us". Throws Error that names `what`.
double parse_duration(std::string_view what, std::string_view text);

// For people: "1.5 MiB", "20 ms". Three digits.
std::string show_bytes(double bytes);
std::string show_seconds(double seconds);

// A JSON number that reads back as the same double.
std::string json_number(double value);

}  // namespace headrace::model

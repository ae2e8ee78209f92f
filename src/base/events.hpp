// The lines that a connector or driver adds to the report (docs/formats/report.md).
#pragma once

#include <span>
#include <string_view>

#include "base/edge.hpp"

namespace headrace {

enum class Seat { vol, vfd };

void report_load(Seat seat, std::string_view name);
void report_file(Seat seat, std::string_view name, std::string_view call, const char* file,
                 bool ok);
// Writes the counts of the calls made so far and sets them to zero.
void report_counts(Seat seat, std::string_view name, std::span<const char* const> names,
                   std::span<std::atomic<std::uint64_t>> counts);

}  // namespace headrace

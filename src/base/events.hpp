// The lines that a connector or driver adds to the report (docs/formats/report.md).
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/edge.hpp"

namespace headrace {

enum class Seat { vol, vfd };

// A process among those that opened a file together.
struct Place {
  int rank = -1;
  int ranks = -1;
};

void report_load(Seat seat, std::string_view name);
void report_file(Seat seat, std::string_view name, std::string_view call, const char* file, bool ok,
                 const std::optional<Place>& place = std::nullopt);
// Writes the counts of the calls made so far and sets them to zero.
void report_counts(Seat seat, std::string_view name, std::span<const char* const> names,
                   std::span<std::atomic<std::uint64_t>> counts);

}  // namespace headrace

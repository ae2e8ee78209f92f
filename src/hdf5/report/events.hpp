// The lines that a connector or driver adds to the report (docs/formats/report.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "hdf5/edge.hpp"

namespace headrace {

enum class Seat { vol, vfd };

// A process among those that opened a file together.
struct Rank {
  int rank = -1;
  int ranks = -1;
};

void report_load(Seat seat, std::string_view name);
// A library that the layers cannot work in, and why.
void report_refusal(std::string_view why);
void report_file(Seat seat, std::string_view name, std::string_view call, const char* file, bool ok,
                 const std::optional<Rank>& place = std::nullopt);
// Writes the counts of the calls made so far and sets them to zero.
void report_counts(Seat seat, std::string_view name, std::span<const char* const> names,
                   std::span<std::atomic<std::uint64_t>> counts);
// Numbers that a layer tells for `headrace run --stats`, which adds them up by name: of the process
// at the end of HDF5, where `file` is empty, of a file at its end, or of one dataset of it. Names
// end in _bytes or _ns (nanoseconds) unless they are plain counts.
void report_statistics(Seat seat, std::string_view name, std::string_view file,
                       std::span<const std::pair<std::string_view, std::uint64_t>> values,
                       std::string_view dataset = {});
// A dataset that was to be compared with what was written to it, and why it was not.
void report_unverified(Seat seat, std::string_view name, std::string_view file,
                       std::string_view dataset, std::string_view filter);
// A dataset that has all that a log held of it.
void report_replayed(Seat seat, std::string_view name, std::string_view file,
                     std::string_view dataset);

}  // namespace headrace

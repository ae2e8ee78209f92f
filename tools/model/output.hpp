// Tables for people and JSON for programs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "disk.hpp"
#include "model/simulate.hpp"

namespace headrace::model {

// A ledger that was played for real.
struct Validation {
  std::string ledger;
  std::uint64_t requests;
  std::uint64_t bytes;
  double predicted;  // seconds
  double measured;   // seconds, the fastest of some runs
  [[nodiscard]] double error() const { return measured > 0 ? predicted / measured - 1 : 0; }
};

// Columns of equal width, the first to the left and the others to the right.
std::string table(const std::vector<std::vector<std::string>>& rows);

std::string presets_table();
std::string presets_json();
std::string results_table(std::string_view preset, const Parameters& parameters,
                          std::span<const Result> results);
std::string results_json(std::string_view preset, const Parameters& parameters,
                         std::span<const Result> results);
std::string disk_table(const Disk& disk, Cache cache);
std::string disk_json(const std::string& directory, const Disk& disk, Cache cache);
std::string validation_table(std::span<const Validation> validations);
std::string validation_json(const std::string& directory, const Disk& disk, Cache cache,
                            std::span<const Validation> validations);

}  // namespace headrace::model

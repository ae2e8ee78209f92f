// The CSV file: the columns of hdf5-iotest, then ours.
#pragma once

#include <string>

#include "kernels/iotest/parameters.hpp"
#include "run.hpp"
#include "sample.hpp"

namespace headrace::bench::iotest {

// Throws Error when rows cannot be appended to the file: its folder is missing, it has other
// columns, or its last line is cut off. A file that is not there is made with the first row.
void check_csv(const std::string& path);

// Whether the CSV file of the case has a row with all its parameters, on this HDF5 and stack, and
// that repeat. Local.
bool has_row(const Parameters& parameters, const Options& options, int repeat);

// Appends a row, whole or not at all. Collective. `write_seconds` and `read_seconds` are this
// rank's.
void append_row(const Parameters& parameters, Run& run, const Measured& result,
                double write_seconds, double read_seconds);

}  // namespace headrace::bench::iotest

// What rank 0 writes into a plotfile before the others open it, and the types of its datasets.
#pragma once

#include <vector>

#include "hdf5.hpp"
#include "kernels/amrex/grids.hpp"

namespace headrace::bench::amrex {

// lo_i, lo_j, lo_k, hi_i, hi_j, hi_k.
Handle box_type();
// i, j, k.
Handle center_type();

// Creates the file and its groups with their attributes. Of one process.
void write_header(const std::string& path, const std::vector<Level>& levels, int components,
                  double time);

}  // namespace headrace::bench::amrex

// Maps and headers like those of E3SM-IO, for who does not have them: as many variables of the same
// types and dimensions, and as many runs of the same lengths for each logical rank, but dealt out
// by chance. Always the same.
#pragma once

#include <vector>

#include "kernels/e3sm/header.hpp"
#include "kernels/e3sm/map.hpp"

namespace headrace::bench::e3sm {

std::vector<Decomposition> made_up_maps(char which);
Header made_up_header(char which);

}  // namespace headrace::bench::e3sm

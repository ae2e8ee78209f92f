// How many files the library has opened, be it by a connector of ours or not.
#pragma once

#include <cstdint>

#include "hdf5/api.hpp"

namespace headrace {

// As many ids of files as the library has made since it started; 0 also where it does not tell.
std::uint64_t files_opened();

}  // namespace headrace

// How iotest makes files and datasets: the property lists that a case asks for.
#pragma once

#include "hdf5.hpp"
#include "kernels/iotest/parameters.hpp"

namespace headrace::bench::iotest {

// The number of a format bound of the loaded library ("earliest", "v18" … "latest"); -1 when it has
// none of that name.
int libver_bound(const std::string& name);

// Adds alignment, metadata blocks and format bounds to an access property list, and the split
// driver over it.
Handle tuned_fapl(Handle list, const Parameters& parameters, bool mpio);

Handle creation_list(const Parameters& parameters);

// Creates a dataset of doubles and the groups above it.
Handle create(const Handle& file, const std::string& name, const Parameters& parameters);

// Throws Error when the dataset is not of doubles, or has another shape.
void check_dataset(const Handle& dataset, const std::string& name, const Parameters& parameters);

}  // namespace headrace::bench::iotest

// The rules for how files and datasets are stored, which `allow=layout` permits: pages, formats,
// chunks, compression, storage in the header, no fill values. What is read stays the same, but for
// fill=never; which HDF5 can read the file may not. The lists that the program asks an open file or
// dataset for show what is stored. Memory: none of this layer's.
#pragma once

#include "layers/tune/connector/file_state.hpp"

namespace headrace::tune {

// A changed copy of a file creation property list; none where there is nothing to change, and where
// HDF5 would not create the file then.
Id<Kind::plist> changed_file_creation(hid_t fcpl, hid_t fapl, const TuneOptions& options);

// The same of a list for a dataset of that type and extent.
Id<Kind::plist> changed_dataset_creation(hid_t type, hid_t space, hid_t dcpl,
                                         const DatasetOptions& options);

// Of files that are created with that list.
FileForm form_of(hid_t fcpl);

}  // namespace headrace::tune

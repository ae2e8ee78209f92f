// Sets whose file was replaced by another one of its name past the layer, as programs do that write
// to a temporary name and rename. No HDF5.
#pragma once

#include <string>

namespace headrace::sidecar {

// For who has just made a set in a folder: of several sets there that have one number, all go but
// that of the stub which has the inode. The system gives an inode to another file only when the one
// before is gone, and nobody has it open. Looks every so many calls only, so that a call costs
// little in a large folder. What fails is left. The application's thread only.
void remove_replaced_sets(const std::string& folder) noexcept;

}  // namespace headrace::sidecar

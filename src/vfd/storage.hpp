// Storage: the bytes of a file below our drivers, as an engine::io::File for worker threads, which
// must not enter libhdf5.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "engine/io/file.hpp"
#include "vfd/callbacks.hpp"

namespace headrace::vfd {

// Asks one of our drivers, by its ctl callback, for storage: input is the file's name, output
// takes the pointer. Only drivers of this very module answer: the code has the version of the
// interface in it.
inline constexpr std::uint64_t kStorageCode = H5FD_CTL_OPC_RESERVED + 272;

// What the workers may use in place of `under`, a file of the driver below ours: it does to the
// bytes what that driver would do, delays and faults included. Null where there is no such thing:
// the driver is not sec2 or mpio, whichever the class above is made for, or one of ours over it; or
// the file is a special one.
// Valid as long as `under` is open. `name` is the file's. `direct`: over sec2, writes of whole
// pages go past the page cache where the file system lets them; the log tells where it does not.
std::unique_ptr<engine::io::File> storage_of(H5FD_t* under, const char* name, Over over,
                                             bool direct = false);

// Asks one of our drivers, in the same way, for the descriptor below it: output takes what
// descriptor_of() gives.
inline constexpr std::uint64_t kDescriptorCode = H5FD_CTL_OPC_RESERVED + 528;

// The descriptor of a file of sec2, also below drivers of ours, for questions about the file: who
// writes by it passes by what is staged. Null where there is another driver. Valid as long as the
// file is open.
int* descriptor_of(H5FD_t* file);

// False where MPI takes a name for more than a path: one that begins with a file system's,
// "ufs:/scratch/x".
bool is_path_for_mpi(std::string_view name);

}  // namespace headrace::vfd

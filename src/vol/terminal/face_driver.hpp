// HDF5's driver of native files whose bytes are a FaceMemory.
#pragma once

#include "vol/terminal/face_memory.hpp"

namespace headrace::vol {

// Has files that are opened with the list lie in the memory. Those of one memory are one file to
// HDF5, which share what it keeps of it. Throws Error.
void set_face_driver(hid_t access_list, FaceMemory& memory);

}  // namespace headrace::vol

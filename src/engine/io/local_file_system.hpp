// File systems of one machine.
#pragma once

namespace headrace::engine::io {

// Whether the file system of an open file is known to show all processes of the node one state of
// it, also where they map it. False for those of networks, and for those not known here.
bool is_on_local_file_system(int descriptor);

}  // namespace headrace::engine::io

// Where this module was loaded from: the files installed beside it are found from there.
#pragma once

#include <string>

namespace headrace {

// The path of the shared object that holds this very copy of the code; absolute unless the file was
// gone when it was loaded.
const std::string& module_file();

// Where a module that is loaded when a program needs it is, such as "libheadrace_lmdb.so": beside
// the core; plug-ins that are modules themselves lie one folder deeper, programs in bin/. The place
// beside this module where it is in none of these.
std::string module_beside(const std::string& file);

// For a private copy, which was loaded from memory and knows no path: that of its original.
void set_module_file(std::string path);

}  // namespace headrace

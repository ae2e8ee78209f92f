// Where this module was loaded from: the files installed beside it are found from there.
#pragma once

#include <string>

namespace headrace {

// The path of the shared object that holds this very copy of the code; absolute unless the file was
// gone when it was loaded.
const std::string& module_file();

// For a private copy, which was loaded from memory and knows no path: that of its original.
void set_module_file(std::string path);

}  // namespace headrace

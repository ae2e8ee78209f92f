// The INI files of hdf5-iotest, as inih reads them.
#pragma once

#include <string>
#include <vector>

namespace headrace::bench::iotest {

struct IniEntry {
  std::string key;
  std::string value;
  std::string where;  // "my.ini:3"
};

// All entries in the file's order, whatever their sections: as in the original, a later section,
// [CUSTOM] say, overrides [DEFAULT]. Throws Error that names the file and the line.
std::vector<IniEntry> read_ini(const std::string& path);

}  // namespace headrace::bench::iotest

#include "hdf5.hpp"

#include <dlfcn.h>

#include "base/error.hpp"

namespace headrace::bench {
namespace {

// Innermost first; each record once.
herr_t add_record(unsigned /*n*/, const H5E_error2_t* record, void* text) {
  auto& all = *static_cast<std::string*>(text);
  const std::string line = record->desc == nullptr ? "" : record->desc;
  if (!line.empty() && all.find(line) == std::string::npos) all += (all.empty() ? "" : "; ") + line;
  return 0;
}

}  // namespace

void throw_hdf5(const std::string& what) {
  std::string records;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, &add_record, &records);
  throw Error(what + (records.empty() ? " failed" : ": " + records));
}

void* hdf5_function(const char* name) { return dlsym(RTLD_DEFAULT, name); }

}  // namespace headrace::bench

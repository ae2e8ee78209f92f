// The options of the object layer.
#pragma once

#include <array>
#include <string>

#include "base/settings/settings.hpp"

namespace headrace::object {

inline constexpr std::array kSettings{
    Setting{"store", "HEADRACE_OBJECT_STORE", Type::path, "", "", "",
            "The folder of the store, on a file system of this machine; it is made where there is "
            "none. Files that are no stubs of this store are HDF5's without it."},
    Setting{"durable", "HEADRACE_OBJECT_DURABLE", Type::choice, "process|power", "", "process",
            "What a flush survives: the end of the program, or that of the machine."},
};

struct ObjectOptions {
  // Throws Error for a malformed value.
  explicit ObjectOptions(const Options& given)
      : store(value_of(kSettings, "store", given)),
        syncs(value_of(kSettings, "durable", given) == "power") {}

  std::string store;
  bool syncs;
};

}  // namespace headrace::object

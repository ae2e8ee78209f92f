// The layers that the core module holds. A new one adds a row here and a line in CMakeLists.txt.
#include <array>

#include "connectors/null/null.hpp"
#include "drivers/null/null.hpp"
#include "plugin/layer_entry.hpp"

namespace headrace {

std::span<const LayerEntry> layers() {
  static const std::array kLayers{
      LayerEntry{"null",
                 "changes nothing: the template, and the proof that the base is transparent",
                 null::kSettings, connector<null::Connector>("libheadrace_null.so"),
                 driver<null::Driver<vfd::Over::sec2>>("libheadrace_null_vfd.so"),
                 driver<null::Driver<vfd::Over::mpio>>("libheadrace_null_vfd_mpi.so")},
  };
  return kLayers;
}

}  // namespace headrace

#include "plugin/core_layers.hpp"

#include <array>

namespace headrace {

std::span<const LayerEntry> layers() {
#define HEADRACE_LAYER(name) name##_layer(),
  static const std::array kLayers{
#include "plugin/core_layers.def"
  };
#undef HEADRACE_LAYER
  return kLayers;
}

}  // namespace headrace

// NAME_layer() gives the row of each layer of the core. A source for each one, as the class tables
// that these functions make take most of a build.
#pragma once

#include "plugin/module.hpp"

namespace headrace {

#define HEADRACE_LAYER(name) LayerEntry name##_layer();
#include "plugin/core_layers.def"
#undef HEADRACE_LAYER

}  // namespace headrace

#include "layers/log/connector/log.hpp"
#include "plugin/core_layers.hpp"
#include "plugin/layer_entry.hpp"

headrace::LayerEntry headrace::log_layer() {
  return {"log",
          "appends scattered writes, and puts them in order before they are looked at",
          log_layout::kSettings,
          connector<log_layout::Connector>("libheadrace_log.so"),
          {},
          {}};
}

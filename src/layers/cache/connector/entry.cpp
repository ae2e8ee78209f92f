#include "layers/cache/connector/cache.hpp"
#include "plugin/core_layers.hpp"
#include "plugin/layer_entry.hpp"

headrace::LayerEntry headrace::cache_layer() {
  return {"cache",
          "keeps decoded chunks in memory that all processes of a node share",
          cache::kSettings,
          connector<cache::Connector>("libheadrace_cache.so"),
          {},
          {}};
}

#include "layers/object/connector/object.hpp"
#include "plugin/core_layers.hpp"
#include "plugin/layer_entry.hpp"

const char* const headrace::object::kConnectorName = Connector::kName;

const H5VL_class_t& headrace::object::own_class() { return vol::class_of<Connector>(); }

headrace::LayerEntry headrace::object_layer() {
  return {"object",
          "keeps files in a store of blobs and tables, behind a stub of their name",
          object::kSettings,
          connector<object::Connector>("libheadrace_object.so"),
          {},
          {}};
}

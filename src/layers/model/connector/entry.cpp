#include "layers/model/connector/model.hpp"
#include "layers/model/driver/model.hpp"
#include "plugin/core_layers.hpp"
#include "plugin/layer_entry.hpp"

headrace::LayerEntry headrace::model_layer() {
  return {"model",
          "counts requests, and predicts or delays them as a parallel file system would",
          model::kSettings,
          connector<model::Connector>("libheadrace_model.so"),
          driver<model::Driver<vfd::Over::sec2>>("libheadrace_model_vfd.so"),
          driver<model::Driver<vfd::Over::mpio>>("libheadrace_model_vfd_mpi.so")};
}

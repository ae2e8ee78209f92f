#include "layers/tune/connector/tune.hpp"
#include "layers/tune/driver/fresh_storage.hpp"
#include "layers/tune/driver/tune.hpp"
#include "plugin/core_layers.hpp"
#include "plugin/layer_entry.hpp"

headrace::LayerEntry headrace::tune_layer() {
  return {"tune",
          "sets what programs leave as HDF5 has it, where files and results stay as they are",
          tune::kSettings,
          connector<tune::Connector>("libheadrace_tune.so"),
          driver<tune::Driver>("libheadrace_tune_vfd.so"),
          driver<tune::MpiDriver>("libheadrace_tune_vfd_mpi.so")};
}

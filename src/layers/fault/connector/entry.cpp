#include "layers/fault/connector/fault.hpp"
#include "layers/fault/driver/fault.hpp"
#include "plugin/core_layers.hpp"
#include "plugin/layer_entry.hpp"

headrace::LayerEntry headrace::fault_layer() {
  return {"fault",
          "injects errors, short transfers, delays and power cuts, for crash tests",
          fault::kSettings,
          connector<fault::Connector>("libheadrace_fault.so"),
          driver<fault::Driver<vfd::Over::sec2>>("libheadrace_fault_vfd.so"),
          driver<fault::Driver<vfd::Over::mpio>>("libheadrace_fault_vfd_mpi.so")};
}

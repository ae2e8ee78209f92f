#include "layers/trace/connector/trace.hpp"
#include "layers/trace/driver/trace.hpp"
#include "plugin/core_layers.hpp"
#include "plugin/layer_entry.hpp"

headrace::LayerEntry headrace::trace_layer() {
  return {"trace",
          "records each call and each request to the storage",
          trace::kSettings,
          connector<trace::Connector>("libheadrace_trace.so"),
          driver<trace::Driver<vfd::Over::sec2>>("libheadrace_trace_vfd.so"),
          driver<trace::Driver<vfd::Over::mpio>>("libheadrace_trace_vfd_mpi.so")};
}

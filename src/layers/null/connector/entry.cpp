#include "layers/null/connector/null.hpp"
#include "layers/null/driver/null.hpp"
#include "plugin/core_layers.hpp"
#include "plugin/layer_entry.hpp"

headrace::LayerEntry headrace::null_layer() {
  return {"null",
          "changes nothing: the template, and the proof that the base is transparent",
          null::kSettings,
          connector<null::Connector>("libheadrace_null.so"),
          driver<null::Driver<vfd::Over::sec2>>("libheadrace_null_vfd.so"),
          driver<null::Driver<vfd::Over::mpio>>("libheadrace_null_vfd_mpi.so")};
}

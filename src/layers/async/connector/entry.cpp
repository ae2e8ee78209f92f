#include "layers/async/connector/async.hpp"
#include "layers/async/driver/async.hpp"
#include "layers/async/driver/async_mpi.hpp"
#include "plugin/core_layers.hpp"
#include "plugin/layer_entry.hpp"

headrace::LayerEntry headrace::async_layer() {
  return {"async",
          "writes behind, and compresses and decompresses chunks in parallel",
          async::kSettings,
          connector<async::Connector>("libheadrace_async.so"),
          driver<async::Driver<vfd::Over::sec2>>("libheadrace_async_vfd.so"),
          driver<async::Driver<vfd::Over::mpio>>("libheadrace_async_vfd_mpi.so")};
}

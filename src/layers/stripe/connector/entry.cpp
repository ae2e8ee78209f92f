#include "layers/stripe/connector/stripe.hpp"
#include "layers/stripe/driver/stripe.hpp"
#include "plugin/core_layers.hpp"
#include "plugin/layer_entry.hpp"

headrace::LayerEntry headrace::stripe_layer() {
  return {"stripe",
          "deals new files out to several, as HDF5's subfiling does",
          stripe::kSettings,
          connector<stripe::Connector>("libheadrace_stripe.so"),
          driver<stripe::Driver<vfd::Over::sec2>>("libheadrace_stripe_vfd.so"),
          driver<stripe::Driver<vfd::Over::mpio>>("libheadrace_stripe_vfd_mpi.so")};
}

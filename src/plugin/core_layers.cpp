// The layers that the core module holds. A new one adds a row here and a line in CMakeLists.txt.
#include <array>

#include "connectors/async/async.hpp"
#include "connectors/fault/fault.hpp"
#include "connectors/log/log.hpp"
#include "connectors/model/model.hpp"
#include "connectors/null/null.hpp"
#include "connectors/stripe/stripe.hpp"
#include "connectors/trace/trace.hpp"
#include "connectors/tune/tune.hpp"
#include "drivers/async/async.hpp"
#include "drivers/async/async_mpi.hpp"
#include "drivers/fault/fault.hpp"
#include "drivers/model/model.hpp"
#include "drivers/null/null.hpp"
#include "drivers/stripe/stripe.hpp"
#include "drivers/trace/trace.hpp"
#include "drivers/tune/fresh_storage.hpp"
#include "drivers/tune/tune.hpp"
#include "plugin/layer_entry.hpp"

namespace headrace {

std::span<const LayerEntry> layers() {
  static const std::array kLayers{
      LayerEntry{"async", "writes behind, and compresses and decompresses chunks in parallel",
                 async::kSettings, connector<async::Connector>("libheadrace_async.so"),
                 driver<async::Driver<vfd::Over::sec2>>("libheadrace_async_vfd.so"),
                 driver<async::Driver<vfd::Over::mpio>>("libheadrace_async_vfd_mpi.so")},
      LayerEntry{"fault", "injects errors, short transfers, delays and power cuts, for crash tests",
                 fault::kSettings, connector<fault::Connector>("libheadrace_fault.so"),
                 driver<fault::Driver<vfd::Over::sec2>>("libheadrace_fault_vfd.so"),
                 driver<fault::Driver<vfd::Over::mpio>>("libheadrace_fault_vfd_mpi.so")},
      LayerEntry{"log",
                 "appends scattered writes, and puts them in order before they are looked at",
                 log_layout::kSettings,
                 connector<log_layout::Connector>("libheadrace_log.so"),
                 {},
                 {}},
      LayerEntry{"model",
                 "counts requests, and predicts or delays them as a parallel file system would",
                 model::kSettings, connector<model::Connector>("libheadrace_model.so"),
                 driver<model::Driver<vfd::Over::sec2>>("libheadrace_model_vfd.so"),
                 driver<model::Driver<vfd::Over::mpio>>("libheadrace_model_vfd_mpi.so")},
      LayerEntry{"null",
                 "changes nothing: the template, and the proof that the base is transparent",
                 null::kSettings, connector<null::Connector>("libheadrace_null.so"),
                 driver<null::Driver<vfd::Over::sec2>>("libheadrace_null_vfd.so"),
                 driver<null::Driver<vfd::Over::mpio>>("libheadrace_null_vfd_mpi.so")},
      LayerEntry{"stripe", "deals new files out to several, as HDF5's subfiling does",
                 stripe::kSettings, connector<stripe::Connector>("libheadrace_stripe.so"),
                 driver<stripe::Driver<vfd::Over::sec2>>("libheadrace_stripe_vfd.so"),
                 driver<stripe::Driver<vfd::Over::mpio>>("libheadrace_stripe_vfd_mpi.so")},
      LayerEntry{"trace", "records each call and each request to the storage", trace::kSettings,
                 connector<trace::Connector>("libheadrace_trace.so"),
                 driver<trace::Driver<vfd::Over::sec2>>("libheadrace_trace_vfd.so"),
                 driver<trace::Driver<vfd::Over::mpio>>("libheadrace_trace_vfd_mpi.so")},
      LayerEntry{
          "tune",
          "sets what programs leave as HDF5 has it, where files and results stay as they are",
          tune::kSettings, connector<tune::Connector>("libheadrace_tune.so"),
          driver<tune::Driver>("libheadrace_tune_vfd.so"),
          driver<tune::MpiDriver>("libheadrace_tune_vfd_mpi.so")},
  };
  return kLayers;
}

}  // namespace headrace

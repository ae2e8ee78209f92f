#include "hdf5/lifecycle.hpp"
#include "layers/trace/connector/transfers.hpp"
#include "layers/trace/settings.hpp"

namespace headrace::trace {

void start_recording(const Options& options) {
  constexpr EndAction kFlush{[] { return holds_rows() || Recorder::get().has_unwritten(); },
                             [] {
                               release_held();
                               Recorder::get().flush();
                             }};
  Recorder::get().start(
      {value_of(kSettings, "output", options), is_on(kSettings, "anonymous", options),
       is_on(kSettings, "lines", options), value_of(kSettings, "level", options) == "profile",
       is_on(kSettings, "callers", options), is_on(kSettings, "arguments", options)});
  before_library_ends(kFlush);
  before_process_ends(kFlush);
}

}  // namespace headrace::trace

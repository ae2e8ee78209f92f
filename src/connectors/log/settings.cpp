#include "connectors/log/settings.hpp"

namespace headrace::log_layout {
namespace {

Canonicalise canonicalise_of(std::string_view value) {
  if (value == "background") return Canonicalise::background;
  return value == "later" ? Canonicalise::later : Canonicalise::close;
}

LogsPer logs_per(std::string_view value) {
  if (value == "node") return LogsPer::node;
  return value == "rank" ? LogsPer::rank : LogsPer::none;
}

}  // namespace

LogOptions LogOptions::of(const Options& options) {
  return {canonicalise_of(value_of(kSettings, "canonicalise", options)),
          number_of(kSettings, "budget", options),
          is_on(kSettings, "sync", options),
          is_on(kSettings, "verify", options),
          is_on(kSettings, "recover", options),
          is_on(kSettings, "skip_missing", options),
          logs_per(value_of(kSettings, "mpi_logs", options))};
}

}  // namespace headrace::log_layout

#include "layers/log/settings.hpp"

#include <filesystem>

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

// Links to logs there must lead to them from wherever they are.
std::string absolute(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).string();
}

}  // namespace

LogOptions::LogOptions(const Options& options)
    : canonicalise(canonicalise_of(value_of(kSettings, "canonicalise", options))),
      path(absolute(value_of(kSettings, "path", options))),
      bandwidth(number_of(kSettings, "bandwidth", options)),
      budget(number_of(kSettings, "budget", options)),
      sync(is_on(kSettings, "sync", options)),
      verify(is_on(kSettings, "verify", options)),
      recover(is_on(kSettings, "recover", options)),
      skip_missing(is_on(kSettings, "skip_missing", options)),
      mpi_logs(logs_per(value_of(kSettings, "mpi_logs", options))) {}

}  // namespace headrace::log_layout

#include <algorithm>
#include <filesystem>

#include "layers/model/driver/recorder.hpp"
#include "layers/model/settings.hpp"
#include "model/quantity.hpp"

namespace headrace::model {
namespace {

std::string value(std::string_view option, const Options& options) {
  return value_of(kSettings, option, options);
}

// Absolute: the program may change its working directory before it closes a file.
std::string path(std::string_view option, const Options& options) {
  const std::string given = value(option, options);
  return given.empty() ? given : std::filesystem::absolute(given).string();
}

// Leaves `target` alone for 0, which stands for the preset's.
void replace_number(std::uint32_t& target, std::string_view option, const Options& options) {
  constexpr std::uint64_t kMost = ~std::uint32_t{0};
  const std::uint64_t given = number_of(kSettings, option, options);
  if (given > 0) target = static_cast<std::uint32_t>(std::min(given, kMost));
}

bool replace_rate(double& target, std::string_view option, const Options& options) {
  const std::uint64_t given = number_of(kSettings, option, options);
  if (given > 0) target = static_cast<double>(given);
  return given > 0;
}

bool replace_duration(double& target, std::string_view option, const Options& options) {
  const double given = parse_duration(option, value(option, options));
  if (given > 0) target = given;
  return given > 0;
}

}  // namespace

Configuration configuration(const Options& options) {
  Configuration result;
  const std::string mode = value("mode", options);
  result.mode = mode == "delay" ? Mode::delay : mode == "predict" ? Mode::predict : Mode::count;
  result.preset = value("preset", options);
  Parameters& parameters = result.parameters;
  parameters = preset(result.preset).parameters;
  replace_number(parameters.servers, "servers", options);
  replace_number(parameters.stripe_count, "stripe_count", options);
  if (const auto size = number_of(kSettings, "stripe_size", options); size > 0)
    parameters.stripe_size = size;
  if (replace_duration(parameters.latency, "latency", options))
    parameters.read_latency = parameters.latency;
  if (replace_rate(parameters.bandwidth, "bandwidth", options))
    parameters.read_bandwidth = parameters.bandwidth;
  replace_rate(parameters.client_bandwidth, "client_bandwidth", options);
  replace_duration(parameters.revocation, "revocation", options);
  check(parameters);
  result.ledger = path("ledger", options);
  result.summary = path("summary", options);
  result.shared = path("shared", options);
  return result;
}

}  // namespace headrace::model

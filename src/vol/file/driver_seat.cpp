#include "vol/file/driver_seat.hpp"

#include "base/settings/connection_string.hpp"

namespace headrace::vol {

DriverSeat driver_seat(std::span<const Setting> settings, Options options, std::string serial,
                       std::string parallel) {
  if (value_of(settings, "seat", options) != "both") return {};
  options.erase("seat");
  return {std::move(serial), std::move(parallel), format_connection_string(options, {})};
}

std::string put_below(const std::string& config, const std::string& driver,
                      const std::string& driver_config) {
  Options options = parse_connection_string(config);
  std::string& under = options["under"];
  std::string& under_config = options["under_config"];
  if (under.empty() || under == "sec2" || under == "mpio") {
    under = driver;
    under_config = driver_config;
  } else {
    under_config = put_below(under_config, driver, driver_config);
  }
  return format_connection_string(options, "under_config");
}

}  // namespace headrace::vol

// A layer that sits above and below the native connector: what its connector puts below.
#pragma once

#include <span>
#include <string>

#include "base/settings/settings.hpp"

namespace headrace::vol {

// An empty name means that the layer has no such driver.
struct DriverSeat {
  std::string serial;    // put in where an access property list says sec2
  std::string parallel;  // put in where it says mpio
  std::string config;    // the driver's connection string: the options of the layer
};

// For a layer whose settings have a `seat`: its drivers when that is "both", none otherwise. The
// drivers get the layer's options but for the seat. Throws Error for a malformed value.
DriverSeat driver_seat(std::span<const Setting> settings, Options options, std::string serial,
                       std::string parallel);

// A driver's connection string with another driver at the bottom of the chain below it, in place of
// sec2 or mpio. Throws Error for a malformed string.
std::string put_below(const std::string& config, const std::string& driver,
                      const std::string& driver_config);

}  // namespace headrace::vol

// What a modelled file system is described by, and the presets.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/request_kind.hpp"

namespace headrace::model {

using Kind = engine::RequestKind;

struct Parameters {
  std::uint32_t servers = 1;
  std::uint32_t stripe_count = 0;          // servers that one file uses; 0: all
  std::uint64_t stripe_size = 1ULL << 20;  // bytes
  double latency = 0;                      // seconds a piece keeps its server busy, beside:
  double bandwidth = 0;                    // bytes a second and server; 0: no limit
  double read_latency = 0;                 // the same for reads
  double read_bandwidth = 0;
  double client_bandwidth = 0;  // bytes a second and client; 0: no limit
  double revocation = 0;        // seconds to take a stripe's lock from another client

  [[nodiscard]] std::uint32_t used_servers() const {
    return stripe_count == 0 || stripe_count > servers ? servers : stripe_count;
  }
  // Seconds that a piece keeps its server busy, lock aside.
  [[nodiscard]] double service(Kind kind, std::uint64_t bytes) const {
    const double rate = kind == Kind::read ? read_bandwidth : bandwidth;
    return (kind == Kind::read ? read_latency : latency) +
           (rate > 0 ? static_cast<double>(bytes) / rate : 0);
  }
  // Seconds on a client's network link.
  [[nodiscard]] double sending(std::uint64_t bytes) const {
    return client_bandwidth > 0 ? static_cast<double>(bytes) / client_bandwidth : 0;
  }
  // The server of a stripe. Files start at different servers, as file systems spread them.
  [[nodiscard]] std::uint32_t server_of(std::uint64_t file, std::uint64_t stripe) const {
    return static_cast<std::uint32_t>((file + stripe % used_servers()) % servers);
  }
};

// Throws Error for what no file system can have.
void check(const Parameters& parameters);

struct Preset {
  std::string_view name;
  std::string_view what;
  Parameters parameters;
  std::string_view source;  // of the numbers, for people
};

std::span<const Preset> presets();

// Throws Error that lists the names there are.
const Preset& preset(std::string_view name);

// {"servers":4,...}; durations in seconds, rates in bytes a second.
std::string json_of(const Parameters& parameters);

}  // namespace headrace::model

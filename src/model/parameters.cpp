#include "model/parameters.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/report/json.hpp"
#include "model/quantity.hpp"

namespace headrace::model {
namespace {

constexpr std::uint64_t kKiB = 1ULL << 10;
constexpr std::uint64_t kMiB = 1ULL << 20;
constexpr double kMicro = 1e-6;
constexpr double kMilli = 1e-3;
constexpr double kMega = 1e6;
constexpr double kGiga = 1e9;

// The members in order: servers, stripe_count, stripe_size, latency, bandwidth, read_latency,
// read_bandwidth, client_bandwidth, revocation.
constexpr std::array kPresets{
    Preset{"none", "no limits but those that are set", {}, "nothing is assumed"},
    // Micron 9200 data sheet (NVMe, PCIe 3.0 x4): 3.5 GB/s sequential reads and writes of 128 KiB,
    // latency 21 us (write) and 92 us (read). Eight channels of an eighth of the rate: assumed.
    Preset{"local-nvme",
           "one NVMe drive in the machine",
           {8, 0, 128 * kKiB, 21 * kMicro, 437.5 * kMega, 92 * kMicro, 437.5 * kMega, 0, 0},
           "Micron 9200 data sheet: 3.5 GB/s, 21 us a write, 92 us a read; that the drive serves "
           "8 pieces of 128 KiB at a time is an assumption; no locks between processes"},
    // A planning model, not a system: 0.5 ms and 1 GB/s a server, 1 MiB stripes, locks 2 to 5 ms.
    Preset{"lustre-4",
           "a file on 4 Lustre targets",
           {4, 0, kMiB, 0.5 * kMilli, kGiga, 0.5 * kMilli, kGiga, 10 * kGiga, 3 * kMilli},
           "assumptions: 0.5 ms and 1 GB/s a target, 3 ms a lock (2 to 5 ms are plausible), "
           "100 Gbit/s with 80 % of it usable a client; 1 MiB is Lustre's default stripe"},
    // NERSC on Franklin's /scratch: 48 OSTs, 17 GB/s together.
    Preset{"lustre-48",
           "a file on all 48 targets of a file system of 2009",
           {48, 0, kMiB, 0.5 * kMilli, 17 * kGiga / 48, 0.5 * kMilli, 17 * kGiga / 48, 1.6 * kGiga,
            3 * kMilli},
           "NERSC's description of Franklin: 48 OSTs, 17 GB/s together; latency and lock as in "
           "lustre-4; 1.6 GB/s a client is an assumption for that time's network"},
    // ldiskfs without ea_inode: 160 OSTs a file (Lustre manual). NERSC on Cori's scratch: 248 OSTs,
    // more than 700 GB/s together.
    Preset{"lustre-160",
           "a file on 160 targets, ldiskfs's usual limit, of a file system of 2016",
           {160, 0, kMiB, 0.5 * kMilli, 700 * kGiga / 248, 0.5 * kMilli, 700 * kGiga / 248,
            8 * kGiga, 3 * kMilli},
           "Lustre manual: 160 OSTs a file; NERSC's description of Cori: 248 OSTs, 700 GB/s "
           "together; latency and lock as in lustre-4; 8 GB/s a client is an assumption"},
    // Gregg's measurement of NFS over 10 GbE: 1.07 GB/s with headers, about 1 GB/s of payload.
    Preset{"nfs",
           "one NFS server over 10 Gbit/s Ethernet",
           {1, 0, kMiB, 0.5 * kMilli, kGiga, 0.3 * kMilli, kGiga, kGiga, 0},
           "1 GB/s of payload over 10 GbE was measured on a Sun 7410 (B. Gregg, 2008); 1 MiB is "
           "Linux's largest rsize and wsize; 0.5 ms a write and 0.3 ms a read are assumptions; "
           "NFS has no locks that a write would take"},
    // AWS, "optimizing Amazon S3 performance": first byte after roughly 100 to 200 ms; "design
    // patterns": 85 to 90 MB/s a request, ranges of 8 to 16 MiB.
    Preset{
        "object-gateway",
        "files as objects of 8 MiB behind a gateway",
        {64, 0, 8 * kMiB, 150 * kMilli, 87.5 * kMega, 150 * kMilli, 87.5 * kMega, 1.25 * kGiga, 0},
        "AWS's guide to S3: 100 to 200 ms to the first byte, 85 to 90 MB/s a connection, ranges "
        "of 8 to 16 MiB; 64 connections and 10 Gbit/s a client are assumptions, and so is that "
        "a write of a part costs no more than the part"},
};

}  // namespace

void check(const Parameters& parameters) {
  constexpr std::uint32_t kMaxServers = 4096;
  if (parameters.servers == 0 || parameters.servers > kMaxServers)
    throw Error("servers: " + std::to_string(parameters.servers) + " is not between 1 and " +
                std::to_string(kMaxServers));
  if (parameters.stripe_size == 0) throw Error("stripe_size: a stripe has at least one byte");
}

std::span<const Preset> presets() { return kPresets; }

const Preset& preset(std::string_view name) {
  const auto* const found = std::ranges::find(kPresets, name, &Preset::name);
  if (found != kPresets.end()) return *found;
  std::string names;
  for (const Preset& each : kPresets) names += ' ' + std::string(each.name);
  throw Error("there is no preset '" + std::string(name) + "'; there are" + names);
}

std::string json_of(const Parameters& parameters) {
  return JsonObject()
      .number("servers", parameters.servers)
      .number("stripe_count", parameters.used_servers())
      .number("stripe_size", static_cast<long long>(parameters.stripe_size))
      .raw("latency", json_number(parameters.latency))
      .raw("bandwidth", json_number(parameters.bandwidth))
      .raw("read_latency", json_number(parameters.read_latency))
      .raw("read_bandwidth", json_number(parameters.read_bandwidth))
      .raw("client_bandwidth", json_number(parameters.client_bandwidth))
      .raw("revocation", json_number(parameters.revocation))
      .str();
}

}  // namespace headrace::model

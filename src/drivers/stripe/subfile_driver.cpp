#include "drivers/stripe/subfile_driver.hpp"

#include <string_view>

#include "base/connection_string.hpp"
#include "base/error.hpp"
#include "hdf5/driver_config.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::stripe {
namespace {

constexpr std::string_view kMpiEnd = "_mpi";

// A driver's counterpart for one process: each of our layers has both, named alike.
std::string serial_name(std::string_view name) {
  if (name.empty() || name == "mpio") return "sec2";
  if (name.ends_with(kMpiEnd)) name.remove_suffix(kMpiEnd.size());
  return std::string(name);
}

std::string serial_config(const std::string& config) {
  Options options = parse_connection_string(config);
  if (const auto under = options.find("under"); under != options.end())
    under->second = serial_name(under->second);
  if (const auto below = options.find("under_config"); below != options.end())
    below->second = serial_config(below->second);
  return format_connection_string(options, "under_config");
}

}  // namespace

Id<Kind::plist> subfile_access(hid_t fapl, const vfd::Layer& layer) {
  const Options options = parse_connection_string(driver_config(fapl));
  const auto named = options.find("under");
  const std::string under = serial_name(named == options.end() ? "" : named->second);
  Id<Kind::plist> access(h5.Pcopy(h5.access_list.get()));
  if (!access) throw Error("the file access property list of subfiles cannot be made");
  const PrivateErrors own;
  if (under == "sec2") {
    if (h5.Pset_driver(access.get(), h5.sec2_driver(), nullptr) < 0)
      throw Error("the driver of subfiles cannot be set");
    return access;
  }
  const auto below = options.find("under_config");
  const std::string config = below == options.end() ? "" : serial_config(below->second);
  if (set_driver(access.get(), under, config.c_str()) < 0)
    throw Error("file driver " + under + ", of subfiles below " + std::string(layer.name) +
                ", cannot be loaded");
  return access;
}

}  // namespace headrace::stripe

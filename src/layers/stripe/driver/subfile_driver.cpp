#include "layers/stripe/driver/subfile_driver.hpp"

#include <string_view>

#include "base/error.hpp"
#include "base/settings/connection_string.hpp"
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

SubfileAccess::SubfileAccess(hid_t fapl, const vfd::Layer& layer) {
  const Options options = parse_connection_string(driver_config(fapl));
  const auto named = options.find("under");
  const std::string under = serial_name(named == options.end() ? "" : named->second);
  plain_ = under == "sec2";
  if (plain_) return;
  list_ = Id<Kind::plist>(h5.Pcopy(h5.access_list.get()));
  if (!list_) throw Error("the file access property list of subfiles cannot be made");
  const PrivateErrors own;
  const auto below = options.find("under_config");
  const std::string config = below == options.end() ? "" : serial_config(below->second);
  if (set_driver(list_.get(), under, config.c_str()) < 0)
    throw Error("file driver " + under + ", of subfiles below " + std::string(layer.name) +
                ", cannot be loaded");
}

}  // namespace headrace::stripe

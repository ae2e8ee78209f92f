// The configuration of a set (sidecar/striped/striped_set.hpp): lines of text, as HDF5's subfiling
// writes and reads them. No HDF5. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/stripes.hpp"
#include "sidecar/copy_file.hpp"

namespace headrace::sidecar {

struct StripedConfig {
  engine::StripeLayout layout;
  std::string stub;                // where it was when the set was made
  std::string id;                  // as in the stub's text; empty in HDF5's and old ones
  std::string folder;              // that the subfiles were made in
  std::vector<std::string> names;  // of the subfiles, in order; no paths
};

// Throws Error that names the file, `path`, and what is wrong in it.
StripedConfig parse_striped_config(std::string_view text, const std::string& path);
StripedConfig read_striped_config(const std::string& path);
StripedConfig read_striped_config(const Descriptor& file);

std::string striped_config_text(const StripedConfig& config);

}  // namespace headrace::sidecar

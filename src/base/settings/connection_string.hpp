// The text after the connector's name in HDF5_VOL_CONNECTOR, and HDF5_DRIVER_CONFIG:
//   key=value;key=value;under_vol=0;under_info={...}
// Values outside [A-Za-z0-9_./:+-,@] are percent-encoded; braces nest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/settings/settings.hpp"

namespace headrace {

// Parses a connection string. Throws Error that shows the offending part. A key stands once.
Options parse_connection_string(std::string_view text);

// The reverse. The value of the key `braced` comes last, in braces as it is; the rest is encoded.
std::string format_connection_string(const Options& options, std::string_view braced);

// The values of `key` in a chain of such strings, each of which has the next one at `inner`, down
// to the last one, or the first that is written otherwise.
std::vector<std::string> values_down(const Options& options, std::string_view key,
                                     std::string_view inner);

// Throws Error for a key that is neither a row of `settings` nor `extra`, and for malformed values.
void check_options(const Options& options, std::span<const Setting> settings,
                   std::span<const std::string_view> extra, std::string_view layer);

}  // namespace headrace

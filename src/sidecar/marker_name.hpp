// The attribute of a file's root group that says that a log beside the file belongs to it: 16
// opaque bytes, which the log has, too (docs/formats/log.md).
#pragma once

#include <string_view>

#include "engine/log/format.hpp"

namespace headrace::sidecar {

inline constexpr const char* kMarkerName = "_headrace_log";
using engine::log::Owner;  // what the attribute and the log hold

inline bool is_marker(std::string_view attribute) { return attribute == kMarkerName; }

}  // namespace headrace::sidecar

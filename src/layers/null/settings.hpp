#pragma once

#include <array>

#include "base/settings/settings.hpp"

namespace headrace::null {

inline constexpr std::array kSettings{
    Setting{"seat", "HEADRACE_NULL_SEAT", Type::choice, "vol|vfd|both", "", "both",
            "Where the layer sits: above the native connector (vol), below it (vfd), or both."},
};

}  // namespace headrace::null

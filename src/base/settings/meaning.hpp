// What options mean, worked out once for files that are opened with the same ones, one after the
// other.
#pragma once

#include <optional>
#include <utility>

#include "base/settings/settings.hpp"

namespace headrace {

// Meaning(options), which is to follow from them and the environment alone. Throws what that
// throws. The application's thread only; good until it is asked for of other options.
template <typename Meaning>
const Meaning& meaning_of(const Options& options) {
  static auto& last = *new std::optional<std::pair<Options, Meaning>>;  // files are opened at exit
  if (!last || last->first != options) last.emplace(options, Meaning(options));
  return last->second;
}

}  // namespace headrace

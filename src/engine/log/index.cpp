#include "engine/log/index.hpp"

#include <algorithm>

namespace headrace::engine::log {

std::vector<std::uint64_t> units_of(const Kind& kind) {
  std::vector<std::uint64_t> units(kind.row.size() + 1, 1);
  for (std::size_t d = kind.row.size(); d-- > 0;)
    if (__builtin_mul_overflow(units[d + 1], kind.row[d], &units[d])) units[d] = 0;
  return units;
}

std::uint64_t most_contents(std::uint64_t compressed, std::uint64_t new_data) {
  constexpr std::uint64_t kDeflate = 1032;  // its best
  constexpr std::uint64_t kEach = 8;
  const std::uint64_t most = ~std::uint64_t{0} / kDeflate;
  const std::uint64_t described = std::min(new_data, most) + std::min(compressed, most);
  return std::min(std::min(compressed, most) * kDeflate, described * kEach);
}

}  // namespace headrace::engine::log

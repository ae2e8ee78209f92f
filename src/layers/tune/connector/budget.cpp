#include "layers/tune/connector/budget.hpp"

namespace headrace::tune {
namespace {

std::uint64_t granted = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

std::optional<Grant> Grant::of(std::uint64_t bytes, std::uint64_t bound) {
  if (granted > bound || bytes > bound - granted) return std::nullopt;
  granted += bytes;
  return Grant(bytes);
}

Grant::~Grant() { granted -= bytes_; }

}  // namespace headrace::tune

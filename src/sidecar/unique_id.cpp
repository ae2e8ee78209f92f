#include "sidecar/unique_id.hpp"

#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/error.hpp"

namespace headrace::sidecar {
namespace {

constexpr std::string_view kHexLetters = "0123456789abcdef";
constexpr std::size_t kIdDigits = 16;

}  // namespace

std::string new_unique_id() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    throw Error(std::string("no random number for an id: ") + std::strerror(errno), errno);
  std::string id;
  for (std::size_t digit = 0; digit < kIdDigits; ++digit, number /= kHexLetters.size())
    id.push_back(kHexLetters[number % kHexLetters.size()]);
  return id;
}

bool is_unique_id(std::string_view text) {
  return text.size() == kIdDigits && text.find_first_not_of(kHexLetters) == std::string_view::npos;
}

}  // namespace headrace::sidecar

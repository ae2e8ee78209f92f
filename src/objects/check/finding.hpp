// What is wrong with a container.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace headrace::objects {

struct Finding {
  // Garbage is what nothing leads to: killed programs leave it, and gc erases it.
  enum class Kind : std::uint8_t { damage, garbage };
  Kind kind = Kind::damage;
  std::string object;  // its path; its number where no path leads to it; empty: of none
  std::string key;     // printable
  std::string cause;
};

using Tell = std::function<void(const Finding& finding)>;

}  // namespace headrace::objects

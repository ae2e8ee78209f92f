// What a test knows to be there.
#pragma once

#include <optional>
#include <stdexcept>
#include <utility>

namespace headrace::test {

// Throws where it is not.
template <typename T>
T present(std::optional<T> value) {
  if (!value) throw std::runtime_error("there is nothing");
  return std::move(*value);
}

}  // namespace headrace::test

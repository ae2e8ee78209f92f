#include "layers/async/driver/program_buffers.hpp"

#include <algorithm>
#include <functional>

namespace headrace::async {
bool ProgramBuffers::have(std::span<const std::byte> bytes) const {
  const std::less_equal<> at_most;
  return std::ranges::any_of(buffers_, [&](std::span<const std::byte> whole) {
    return at_most(whole.data(), bytes.data()) &&
           at_most(bytes.data() + bytes.size(), whole.data() + whole.size());
  });
}

}  // namespace headrace::async

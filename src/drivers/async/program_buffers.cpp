#include "drivers/async/program_buffers.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace headrace::async {
namespace {

thread_local const ProgramBuffers* innermost = nullptr;

}  // namespace

ProgramBuffers::ProgramBuffers(std::vector<std::span<const std::byte>> buffers, bool independent)
    : buffers_(std::move(buffers)), independent_(independent), outer_(innermost) {
  innermost = this;
}

ProgramBuffers::~ProgramBuffers() { innermost = outer_; }

const ProgramBuffers* ProgramBuffers::current() { return innermost; }

bool ProgramBuffers::have(std::span<const std::byte> bytes) const {
  const std::less_equal<> at_most;
  return std::ranges::any_of(buffers_, [&](std::span<const std::byte> whole) {
    return at_most(whole.data(), bytes.data()) &&
           at_most(bytes.data() + bytes.size(), whole.data() + whole.size());
  });
}

}  // namespace headrace::async

// Makes calls of a C library one right after the other, as a compiled program does: between calls
// that Python makes, the processor's caches fill with Python.
// headrace/trace/replay/hdf5/tape.py has the other side of these structures.
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace {

constexpr std::size_t kMostArguments = 12;

// A number or a pointer: `value`, or what the call with the number `from` on the tape has returned.
struct Argument {
  std::int64_t value;
  std::int64_t from;  // -1: none
};

struct Taped {
  void* function;
  std::int64_t is_long;  // whether it returns 64 bits; otherwise 32
  std::array<Argument, kMostArguments> arguments;
};

// On the platforms that Headrace is built for, a function of fewer arguments, all of them whole
// numbers or pointers, may be called with more of 64 bits each.
template <std::size_t... i>
std::int64_t make(const Taped& call, const std::int64_t* results, std::index_sequence<i...>) {
  const auto of = [&](const Argument& each) {
    return each.from < 0 ? each.value : results[each.from];
  };
  using Function = std::int64_t (*)(decltype(std::int64_t{} + static_cast<std::int64_t>(i))...);
  const std::int64_t result =
      reinterpret_cast<Function>(call.function)(of(std::get<i>(call.arguments))...);
  return call.is_long != 0 ? result : static_cast<std::int32_t>(result);
}

}  // namespace

// `results` has room for as many numbers as there are calls.
extern "C" __attribute__((visibility("default"))) void headrace_play(const Taped* calls,
                                                                     std::size_t count,
                                                                     std::int64_t* results) {
  for (std::size_t i = 0; i < count; ++i)
    results[i] = make(calls[i], results, std::make_index_sequence<kMostArguments>());
}

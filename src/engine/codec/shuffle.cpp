#include "engine/codec/shuffle.hpp"

#include <cstring>

namespace headrace::engine {
namespace {

// Elements are moved in blocks that stay in the first-level cache, each byte plane at a time.
constexpr std::size_t kBlock = 512;

// `fixed` is the element's size, 0 for one that the compiler does not know.
template <std::size_t fixed>
void transpose(std::size_t given, std::size_t elements, const std::byte* from, std::byte* to) {
  const std::size_t size = fixed == 0 ? given : fixed;
  for (std::size_t begin = 0; begin < elements; begin += kBlock) {
    const std::size_t end = begin + kBlock < elements ? begin + kBlock : elements;
    for (std::size_t plane = 0; plane < size; ++plane)
      for (std::size_t i = begin; i < end; ++i) to[plane * elements + i] = from[i * size + plane];
  }
}

template <std::size_t fixed>
void transpose_back(std::size_t given, std::size_t elements, const std::byte* from, std::byte* to) {
  const std::size_t size = fixed == 0 ? given : fixed;
  for (std::size_t begin = 0; begin < elements; begin += kBlock) {
    const std::size_t end = begin + kBlock < elements ? begin + kBlock : elements;
    for (std::size_t plane = 0; plane < size; ++plane)
      for (std::size_t i = begin; i < end; ++i) to[i * size + plane] = from[plane * elements + i];
  }
}

using Transpose = void (*)(std::size_t, std::size_t, const std::byte*, std::byte*);

void apply(Transpose two, Transpose four, Transpose eight, Transpose other, std::size_t element,
           std::span<const std::byte> from, std::span<std::byte> to) {
  const std::size_t elements = from.size() / element;
  const std::size_t done = element > 1 && elements > 1 ? elements * element : 0;
  const Transpose run = element == 2 ? two : element == 4 ? four : element == 8 ? eight : other;
  if (done > 0) run(element, elements, from.data(), to.data());
  if (from.size() > done) std::memcpy(to.data() + done, from.data() + done, from.size() - done);
}

}  // namespace

void shuffle(std::size_t element, std::span<const std::byte> from, std::span<std::byte> to) {
  apply(&transpose<2>, &transpose<4>, &transpose<8>, &transpose<0>, element, from, to);
}

void unshuffle(std::size_t element, std::span<const std::byte> from, std::span<std::byte> to) {
  apply(&transpose_back<2>, &transpose_back<4>, &transpose_back<8>, &transpose_back<0>, element,
        from, to);
}

}  // namespace headrace::engine

#include "engine/codec/shuffle.hpp"

#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

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

#ifdef __SSE2__
// Elements of four bytes, as float fields have, 16 at a time; what is left goes one by one.
constexpr std::size_t kAtATime = 16;

__m128i load(const std::byte* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}
void store(std::byte* to, __m128i value) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), value);
}
__m128i even_bytes(__m128i a, __m128i b) {
  const __m128i low = _mm_set1_epi16(0xff);
  return _mm_packus_epi16(_mm_and_si128(a, low), _mm_and_si128(b, low));
}
__m128i odd_bytes(__m128i a, __m128i b) {
  return _mm_packus_epi16(_mm_srli_epi16(a, 8), _mm_srli_epi16(b, 8));
}

void transpose_four(std::size_t /*size*/, std::size_t elements, const std::byte* from,
                    std::byte* to) {
  std::size_t i = 0;
  for (; i + kAtATime <= elements; i += kAtATime) {
    const std::byte* at = from + 4 * i;
    const __m128i a = load(at);
    const __m128i b = load(at + 16);
    const __m128i c = load(at + 32);
    const __m128i d = load(at + 48);
    const __m128i even_ab = even_bytes(a, b);
    const __m128i even_cd = even_bytes(c, d);
    const __m128i odd_ab = odd_bytes(a, b);
    const __m128i odd_cd = odd_bytes(c, d);
    store(to + i, even_bytes(even_ab, even_cd));
    store(to + elements + i, even_bytes(odd_ab, odd_cd));
    store(to + 2 * elements + i, odd_bytes(even_ab, even_cd));
    store(to + 3 * elements + i, odd_bytes(odd_ab, odd_cd));
  }
  for (; i < elements; ++i)
    for (std::size_t plane = 0; plane < 4; ++plane) to[plane * elements + i] = from[4 * i + plane];
}

void transpose_back_four(std::size_t /*size*/, std::size_t elements, const std::byte* from,
                         std::byte* to) {
  std::size_t i = 0;
  for (; i + kAtATime <= elements; i += kAtATime) {
    const __m128i a = load(from + i);
    const __m128i b = load(from + elements + i);
    const __m128i c = load(from + 2 * elements + i);
    const __m128i d = load(from + 3 * elements + i);
    const __m128i low_ab = _mm_unpacklo_epi8(a, b);
    const __m128i high_ab = _mm_unpackhi_epi8(a, b);
    const __m128i low_cd = _mm_unpacklo_epi8(c, d);
    const __m128i high_cd = _mm_unpackhi_epi8(c, d);
    std::byte* at = to + 4 * i;
    store(at, _mm_unpacklo_epi16(low_ab, low_cd));
    store(at + 16, _mm_unpackhi_epi16(low_ab, low_cd));
    store(at + 32, _mm_unpacklo_epi16(high_ab, high_cd));
    store(at + 48, _mm_unpackhi_epi16(high_ab, high_cd));
  }
  for (; i < elements; ++i)
    for (std::size_t plane = 0; plane < 4; ++plane) to[4 * i + plane] = from[plane * elements + i];
}
#else
constexpr auto transpose_four = &transpose<4>;
constexpr auto transpose_back_four = &transpose_back<4>;
#endif

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
  apply(&transpose<2>, transpose_four, &transpose<8>, &transpose<0>, element, from, to);
}

void unshuffle(std::size_t element, std::span<const std::byte> from, std::span<std::byte> to) {
  apply(&transpose_back<2>, transpose_back_four, &transpose_back<8>, &transpose_back<0>, element,
        from, to);
}

}  // namespace headrace::engine

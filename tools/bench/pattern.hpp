// Data that depend on where they stand, so that bytes in a wrong place are found when they are
// read.
//
//   fill<double>(buffer, key_of("step=3/array=7"), first);     // element i is value<double>(key,
//   first + i) verify<double>(buffer, key_of("step=3/array=7"), first, "step=3/array=7");
//
// `first` is the linear index, in the whole dataset, of the buffer's first element.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace headrace::bench {

// FNV-1a of the name of a dataset or variable, http://www.isthe.com/chongo/tech/comp/fnv/.
constexpr std::uint64_t key_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char letter : name)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3ULL;
  return hash;
}

// Stafford's variant 13 of the finalizer of MurmurHash3, as in SplitMix64.
constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

// Of all bits of an integer; of a floating-point type, in [0, 1) and exact.
template <typename T>
constexpr T value(std::uint64_t key, std::uint64_t index) {
  const std::uint64_t bits = mixed(key + index * 0x9e3779b97f4a7c15ULL);
  if constexpr (std::floating_point<T>) {
    constexpr int kDigits = std::numeric_limits<T>::digits;
    return static_cast<T>(bits >> (64U - kDigits)) / static_cast<T>(std::uint64_t{1} << kDigits);
  } else {
    static_assert(std::integral<T>);
    return static_cast<T>(bits);
  }
}

// Neighbours that differ by one, as far as T counts exactly: data that compress.
template <typename T>
constexpr T smooth_value(std::uint64_t key, std::uint64_t index) {
  constexpr int kBits = std::floating_point<T> ? std::numeric_limits<T>::digits : 8 * sizeof(T);
  constexpr std::uint64_t kMask = kBits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << kBits) - 1;
  return static_cast<T>((mixed(key) + index) & kMask);
}

enum class Texture { random, smooth };

template <typename T>
constexpr T value(Texture texture, std::uint64_t key, std::uint64_t index) {
  return texture == Texture::random ? value<T>(key, index) : smooth_value<T>(key, index);
}

template <typename T>
void fill(std::span<T> buffer, std::uint64_t key, std::uint64_t first,
          Texture texture = Texture::random) {
  for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = value<T>(texture, key, first + i);
}

// Throws Error that names `where`, the element and both values.
[[noreturn]] void throw_mismatch(std::string_view where, std::uint64_t index,
                                 const std::string& expected, const std::string& found);

template <typename T>
void verify_one(T found, T expected, std::uint64_t index, std::string_view where) {
  if (found != expected)
    throw_mismatch(where, index, std::to_string(expected), std::to_string(found));
}

template <typename T>
void verify(std::span<const T> buffer, std::uint64_t key, std::uint64_t first,
            std::string_view where, Texture texture = Texture::random) {
  for (std::size_t i = 0; i < buffer.size(); ++i)
    verify_one(buffer[i], value<T>(texture, key, first + i), first + i, where);
}

}  // namespace headrace::bench

#include "engine/codec/fletcher32.hpp"

#include <algorithm>

namespace headrace::engine {
namespace {

// The largest number of 16-bit words that can be summed twice in 32 bits.
constexpr std::size_t kWords = 360;

std::uint32_t fold(std::uint32_t sum) { return (sum & 0xffffU) + (sum >> 16U); }

}  // namespace

std::uint32_t fletcher32(std::span<const std::byte> bytes) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::uint32_t sum = 0;
  std::uint32_t sum_of_sums = 0;
  for (std::size_t left = bytes.size() / 2; left > 0;) {
    const std::size_t words = std::min(left, kWords);
    left -= words;
    for (std::size_t i = 0; i < words; ++i, data += 2) {
      sum += static_cast<std::uint32_t>(data[0]) << 8U | data[1];
      sum_of_sums += sum;
    }
    sum = fold(sum);
    sum_of_sums = fold(sum_of_sums);
  }
  if (bytes.size() % 2 != 0) {
    sum += static_cast<std::uint32_t>(*data) << 8U;
    sum_of_sums += sum;
    sum = fold(sum);
    sum_of_sums = fold(sum_of_sums);
  }
  return fold(sum_of_sums) << 16U | fold(sum);
}

bool fletcher32_matches(std::uint32_t stored, std::span<const std::byte> bytes) {
  const std::uint32_t right = fletcher32(bytes);
  const std::uint32_t old = (right & 0x00ff00ffU) << 8U | (right >> 8U & 0x00ff00ffU);
  return stored == right || stored == old;
}

}  // namespace headrace::engine

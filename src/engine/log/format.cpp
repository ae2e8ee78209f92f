#include "engine/log/format.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "base/little_endian.hpp"
#include "engine/checksum.hpp"

namespace headrace::engine::log {
namespace {

constexpr std::uint32_t kVersion = 1;

}  // namespace

std::array<std::byte, kHeaderBytes> SegmentHeader::encode() const {
  std::array<std::byte, kHeaderBytes> result{};
  std::byte* const to = result.data();
  std::memcpy(to, kMagic.data(), kMagic.size());
  put_little_endian(to + 4, static_cast<std::uint32_t>(kind));
  put_little_endian(to + 8, sequence);
  put_little_endian(to + 16, bytes);
  put_little_endian(to + 24, checksum);
  put_little_endian(to + 28, engine::checksum(std::span(result).first(28)));
  return result;
}

bool decode(std::span<const std::byte, kHeaderBytes> bytes, SegmentHeader& header) {
  const std::byte* const at = bytes.data();
  const auto kind = little_endian<std::uint32_t>(at + 4);
  if (std::memcmp(at, kMagic.data(), kMagic.size()) != 0 || kind < 1 || kind > 4 ||
      little_endian<std::uint32_t>(at + 28) != checksum(bytes.first(28)))
    return false;
  header = {static_cast<SegmentKind>(kind), little_endian<std::uint64_t>(at + 8),
            little_endian<std::uint64_t>(at + 16), little_endian<std::uint32_t>(at + 24)};
  return true;
}

std::array<std::byte, kOwnerBytes> encode(const Belonging& belonging) {
  std::array<std::byte, kOwnerBytes> result{};
  std::byte* const numbers = result.data() + sizeof kVersion + sizeof(Owner);
  put_little_endian(result.data(), kVersion);
  std::ranges::copy(belonging.owner, result.begin() + sizeof kVersion);
  put_little_endian(numbers, belonging.rank);
  put_little_endian(numbers + sizeof belonging.rank, belonging.ranks);
  return result;
}

Belonging decode_owner(std::span<const std::byte> bytes) {
  Belonging belonging;
  if (bytes.size() < sizeof kVersion)
    throw Error("the log does not say what it belongs to", ErrorKind::corrupt);
  const auto version = little_endian<std::uint32_t>(bytes.data());
  if (version != kVersion)
    throw Error("the log is of version " + std::to_string(version) + " of the format, not " +
                    std::to_string(kVersion),
                ErrorKind::unsupported);
  if (bytes.size() != kOwnerBytes)
    throw Error("the log does not say what it belongs to", ErrorKind::corrupt);
  const auto numbers = bytes.last(sizeof belonging.rank + sizeof belonging.ranks);
  std::ranges::copy(bytes.subspan(sizeof kVersion, sizeof(Owner)), belonging.owner.begin());
  belonging.rank = little_endian<std::uint32_t>(numbers.data());
  belonging.ranks = little_endian<std::uint32_t>(numbers.data() + sizeof belonging.rank);
  if (belonging.rank >= belonging.ranks)
    throw Error("the log is of a rank that there is not", ErrorKind::corrupt);
  return belonging;
}

std::array<std::byte, kClosingBytes> encode_closing(std::uint64_t segments, std::uint64_t bytes) {
  std::array<std::byte, kClosingBytes> result{};
  put_little_endian(result.data(), segments);
  put_little_endian(result.data() + 8, bytes);
  return result;
}

}  // namespace headrace::engine::log

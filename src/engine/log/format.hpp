// The segments that a log file is made of; docs/formats/log.md has it to the byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace headrace::engine::log {

constexpr std::size_t kHeaderBytes = 32;
constexpr std::string_view kMagic = "HRLG";  // of each header

enum class SegmentKind : std::uint32_t { data = 1, index = 2, owner = 3, closing = 4 };

// What a log and the file that it belongs to have in common.
using Owner = std::array<std::byte, 16>;

// The same of each log of a file that ranks have written together, and which of them it is.
struct Belonging {
  Owner owner{};
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;

  bool operator==(const Belonging&) const = default;
};

// Stands before each segment, and is written after it.
struct SegmentHeader {
  SegmentKind kind = SegmentKind::data;
  std::uint64_t sequence = 0;  // counts the segments of a file
  std::uint64_t bytes = 0;     // that follow
  std::uint32_t checksum = 0;  // of those

  [[nodiscard]] std::array<std::byte, kHeaderBytes> encode() const;
};

// False when the bytes are no header of a segment, be it because they were never written.
bool decode(std::span<const std::byte, kHeaderBytes> bytes, SegmentHeader& header);

// What an owner's segment holds, and back. Throws Error for a version of the format that is not
// this one, and for anything else.
constexpr std::size_t kOwnerBytes = 4 + sizeof(Owner) + 4 + 4;
std::array<std::byte, kOwnerBytes> encode(const Belonging& belonging);
Belonging decode_owner(std::span<const std::byte> bytes);

// What the last segment of a log holds whose file was closed: how many segments and bytes are
// before it.
constexpr std::size_t kClosingBytes = 16;
std::array<std::byte, kClosingBytes> encode_closing(std::uint64_t segments, std::uint64_t bytes);

}  // namespace headrace::engine::log

// What a rank and the PieceServer of another node send each other over TCP. All run one program on
// machines of one kind, so numbers are in the byte order of the machine. No HDF5, no MPI.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headrace::stripe {

using Key = std::array<std::byte, 16>;

// How a server is found, and how both ends know each other: a rank shows one key first and expects
// the other one as the answer. Keys are random, and are sent to ranks by MPI alone.
struct Invitation {
  Key shown{};
  Key answered{};
  std::uint16_t port = 0;
  std::vector<std::string> addresses;  // of the node's interfaces, in numbers
};

// For messages between ranks. invitation_in() throws Error for bytes that are no invitation.
std::vector<std::byte> bytes_of(const Invitation& invitation);
Invitation invitation_in(std::span<const std::byte> bytes);

enum class Act : std::uint32_t { read, write, sync, resize };

// The bytes to be written come after it. `size`: at most kMostBytes for reads and writes.
struct Request {
  Act act;
  std::uint32_t subfile;
  std::uint64_t offset;
  std::uint64_t size;
};
inline constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 20U;

// The error's text comes after it, or the bytes that were to be read where there is none.
struct Reply {
  std::int32_t error_number;
  std::uint32_t text;  // its length in bytes; 0: no error
};
inline constexpr std::uint32_t kMostText = 4096;

}  // namespace headrace::stripe

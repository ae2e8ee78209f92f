#include "engine/kept_writes.hpp"

#include <algorithm>

namespace headrace::engine {
namespace {

// Copies those bytes of `from` that lie in `to`; both begin at an address of the file.
void copy_shared(std::uint64_t from_address, std::span<const std::byte> from,
                 std::uint64_t to_address, std::span<std::byte> to) {
  const std::uint64_t begin = std::max(from_address, to_address);
  const std::uint64_t end = std::min(from_address + from.size(), to_address + to.size());
  if (begin >= end) return;
  std::ranges::copy(from.subspan(begin - from_address, end - begin),
                    to.subspan(begin - to_address).begin());
}

}  // namespace

void KeptWrites::keep(std::uint64_t address, std::span<const std::byte> bytes) {
  note_written(address, bytes);
  const bool known = std::ranges::any_of(pieces_, [&](const Piece& piece) {
    return piece.address <= address && address + bytes.size() <= piece.address + piece.bytes.size();
  });
  if (!known) pieces_.push_back({address, {bytes.begin(), bytes.end()}});
}

void KeptWrites::note_written(std::uint64_t address, std::span<const std::byte> bytes) {
  for (Piece& piece : pieces_) copy_shared(address, bytes, piece.address, piece.bytes);
}

void KeptWrites::overlay(std::uint64_t address, std::span<std::byte> bytes) const {
  for (const Piece& piece : pieces_) copy_shared(piece.address, piece.bytes, address, bytes);
}

}  // namespace headrace::engine

// The pieces of a file that a driver's callback is about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "base/report/log.hpp"
#include "engine/request_kind.hpp"
#include "hdf5/mpio_transfer.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vfd/callbacks.hpp"

namespace headrace::vfd {

using engine::RequestKind;

// `length` bytes in the `span` from `offset` on: all of it, but for MPI datatypes.
struct Piece {
  static constexpr int kUnknown = -1;
  int type;  // an H5FD_mem_t, or kUnknown
  std::uint64_t offset;
  std::uint64_t length;
  std::uint64_t span;
};

// The arguments of the callbacks.
struct NoPiece {};
struct Block {
  H5FD_mem_t type;
  haddr_t address;
  std::size_t size;
};
struct Vector {
  std::uint32_t count;
  const H5FD_mem_t* types;
  const haddr_t* addresses;
  const std::size_t* sizes;
};
struct Selections {
  H5FD_mem_t type;
  std::size_t count;
  const hid_t* spaces;
  const haddr_t* offsets;
  const std::size_t* elements;
};

// Call `visit` with each Piece. `collective`: all ranks make the call together. Over mpio what is
// known of a call is only known within it.
template <typename Visit>
void for_each_piece(const NoPiece& /*none*/, bool /*collective*/, Visit /*visit*/) {}

template <typename Visit>
void for_each_piece(const Block& block, bool collective, Visit visit) {
  std::optional<TransferShape> shape;
  if (collective) shape = shape_of_collective(block.size);
  const TransferShape known = shape.value_or(TransferShape{0, block.size, block.size});
  visit(Piece{block.type, block.address + known.offset, known.length, known.span});
}

// HDF5 shortens the lists: from the first size 0 or type NOLIST on all are as the one before.
template <typename Visit>
void for_each_piece(const Vector& vector, bool /*collective*/, Visit visit) {
  std::size_t size = 0;
  H5FD_mem_t type = H5FD_MEM_DEFAULT;
  bool same_size = false;
  bool same_type = false;
  for (std::uint32_t i = 0; i < vector.count; ++i) {
    same_size = same_size || vector.sizes[i] == 0;
    same_type = same_type || vector.types[i] == H5FD_MEM_NOLIST;
    if (!same_size) size = vector.sizes[i];
    if (!same_type) type = vector.types[i];
    visit(Piece{type, vector.addresses[i], size, size});
  }
}

// Calls `visit` with each Piece and its bytes in memory; a null buffer is the one before, too.
template <typename Buffer, typename Visit>
void for_each_piece(const Vector& vector, Buffer* const buffers[], Visit visit) {
  using Byte = std::conditional_t<std::is_const_v<Buffer>, const std::byte, std::byte>;
  Buffer* buffer = nullptr;
  for_each_piece(vector, false, [&](const Piece& piece) {
    if (*buffers != nullptr) buffer = *buffers;
    ++buffers;
    visit(piece, std::span(static_cast<Byte*>(buffer), piece.length));
  });
}

template <typename Visit>
void for_each_piece(const Selections& selections, bool /*collective*/, Visit visit) {
  const NestedCalls nested;
  std::size_t element = 0;
  bool same = false;
  for (std::size_t i = 0; i < selections.count; ++i) {
    same = same || selections.elements[i] == 0;
    if (!same) element = selections.elements[i];
    const haddr_t base = selections.offsets[i];
    if (!for_each_run(selections.spaces[i], element,
                      [&](std::uint64_t offset, std::uint64_t length) {
                        visit(Piece{selections.type, base + offset, length, length});
                      }))
      log(Level::warning, "a selection cannot be read; its bytes are not counted");
  }
}

// Whether all ranks make the call in progress together.
inline bool made_together(RequestKind kind, Over over) {
  return over == Over::mpio && kind <= RequestKind::write && collective_transfer();
}

}  // namespace headrace::vfd

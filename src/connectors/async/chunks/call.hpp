// A read or write that is being carried out, piece by piece. The application's thread only.
#pragma once

#include <algorithm>

#include "base/error.hpp"
#include "connectors/async/dataset.hpp"
#include "connectors/async/selections/transfer.hpp"
#include "engine/box.hpp"
#include "engine/buffer.hpp"

namespace headrace::async {

// Where the elements of a piece are in memory. Const is std::byte or const std::byte.
template <typename Byte>
struct Place {
  Byte* data;
  engine::Index strides;
};

// A call that is being carried out.
struct Call {
  Dataset& dataset;
  const Transfer& transfer;
  hid_t dxpl;
  engine::Grid grid;
  engine::Index chunk_strides;

  Call(Dataset& of, const Transfer& what, hid_t list)
      : dataset(of),
        transfer(what),
        dxpl(list),
        grid(of.grid()),
        chunk_strides(engine::strides_of(of.rank, of.chunk, of.element)) {}

  [[nodiscard]] std::size_t elements(const engine::Piece& piece) const {
    return engine::volume(dataset.rank, piece.box.count);
  }

  template <typename Byte>
  [[nodiscard]] Place<Byte> in_program(const engine::Piece& piece, Byte* buffer) const {
    std::size_t offset = transfer.mem_offset;
    for (unsigned d = 0; d < dataset.rank; ++d)
      offset += (piece.box.start[d] - transfer.box.start[d]) * transfer.mem_strides[d];
    return {buffer + offset, transfer.mem_strides};
  }

  template <typename Byte>
  [[nodiscard]] Place<Byte> in_chunk(const engine::Piece& piece, Byte* chunk) const {
    std::size_t offset = 0;
    for (unsigned d = 0; d < dataset.rank; ++d)
      offset += (piece.box.start[d] - piece.origin[d]) * chunk_strides[d];
    return {chunk + offset, chunk_strides};
  }

  [[nodiscard]] Place<std::byte> dense(const engine::Piece& piece, engine::Buffer& buffer,
                                       std::size_t element) const {
    return {buffer.data(), engine::strides_of(dataset.rank, piece.box.count, element)};
  }

  // Room for the elements of a piece in either type.
  [[nodiscard]] engine::Buffer conversion_buffer(const engine::Piece& piece) const {
    return engine::Buffer(elements(piece) * std::max(dataset.element, transfer.mem_element));
  }

  void convert(hid_t from, hid_t to, const engine::Piece& piece, engine::Buffer& buffer) const {
    if (h5.Tconvert(from, to, elements(piece), buffer.data(), nullptr, dxpl) < 0)
      throw Error("HDF5 cannot convert the elements of a chunk");
  }

  void copy(const engine::Piece& piece, std::size_t element, const Place<const std::byte>& from,
            const Place<std::byte>& to) const {
    engine::copy_box(dataset.rank, piece.box.count, element, from.data, from.strides, to.data,
                     to.strides);
  }

  // A piece of a decoded chunk to the program; converted on the way where that is needed, which
  // calls HDF5.
  void deliver(const engine::Piece& piece, const Place<const std::byte>& from,
               std::byte* program) const {
    if (!transfer.converts) {
      copy(piece, dataset.element, from, in_program(piece, program));
      return;
    }
    engine::Buffer buffer = conversion_buffer(piece);
    copy(piece, dataset.element, from, dense(piece, buffer, dataset.element));
    convert(dataset.type.get(), transfer.mem_type, piece, buffer);
    const Place<std::byte> converted = dense(piece, buffer, transfer.mem_element);
    copy(piece, transfer.mem_element, {converted.data, converted.strides},
         in_program(piece, program));
  }

  void deliver_fill(const engine::Piece& piece, std::byte* program) const {
    if (!dataset.fills) return;  // HDF5 leaves the program's memory as it is
    engine::Buffer chunk(elements(piece) * dataset.element);
    engine::fill_all(dataset.fill, chunk.bytes());
    const Place<std::byte> from = dense(piece, chunk, dataset.element);
    deliver(piece, {from.data, from.strides}, program);
  }
};

// All pieces of the call. `program`: its buffer. Throws when HDF5 must do it, or tell what is
// wrong.
void read_pieces(const Call& call, std::byte* program);
void write_pieces(const Call& call, const std::byte* program);

}  // namespace headrace::async

// A read or write of a dataset in chunks, part by part: which part lies in which chunk, and how it
// is copied between the decoded chunk and the program's memory.
#pragma once

#include <span>
#include <vector>

#include "engine/box.hpp"
#include "engine/buffer.hpp"
#include "engine/reading/pieces.hpp"
#include "engine/scattered.hpp"
#include "vol/chunks/element_transfer.hpp"

namespace headrace::vol {

// What of a transfer lies in one chunk.
struct Part : engine::Piece {
  std::span<const engine::Fragment> fragments;  // none of a hyperslab
  std::uint64_t elements = 0;
};

// Where the elements of a part are. Byte is std::byte or const std::byte.
template <typename Byte>
struct Location {
  Byte* data;               // of a hyperslab's first element
  engine::Index strides{};  // bytes, of a hyperslab
  bool in_order = false;    // fragments lie one after the other, not where memory's selection says

  // NOLINTNEXTLINE(google-explicit-constructor): as a pointer becomes one to const
  operator Location<const Byte>() const { return {data, strides, in_order}; }
};
using Target = Location<std::byte>;
using Source = Location<const std::byte>;

// Its functions may be called on any thread, those with a note on the program's only.
class ChunkTransfer {
 public:
  // The dataset and the transfer must outlive the object.
  ChunkTransfer(const Chunked& of, const ElementTransfer& what, hid_t list);

  [[nodiscard]] const Chunked& chunked() const { return dataset_; }
  [[nodiscard]] const ElementTransfer& transfer() const { return transfer_; }
  [[nodiscard]] const engine::Grid& grid() const { return grid_; }

  // The part that lies in a chunk that the transfer has something of; `fragment`: the first of its
  // fragments, where the transfer has some.
  [[nodiscard]] Part part_in(std::uint64_t chunk, std::size_t fragment) const;

  // Where a part lies in the program's buffer.
  template <typename Byte>
  [[nodiscard]] Location<Byte> in_program(const Part& part, Byte* buffer) const {
    if (transfer_.is_scattered()) return {buffer, {}, false};
    return {buffer + program_offset(part), transfer_.mem_strides, false};
  }
  // The elements of a part one after the other.
  [[nodiscard]] Target dense(const Part& part, engine::Buffer& buffer, std::size_t element) const {
    return {buffer.data(), engine::strides_of(dataset_.rank, part.box.count, element), true};
  }

  // Between a decoded chunk and elements of the dataset's type.
  void gather(const Part& part, const std::byte* chunk, const Target& to) const;
  void scatter(const Part& part, const Source& from, std::byte* chunk) const;

  // A part of a decoded chunk to the program; calls HDF5 where elements are converted: the
  // program's thread only then.
  void deliver(const Part& part, const std::byte* chunk, std::byte* program) const;
  void deliver_fill(const Part& part, std::byte* program) const;
  // From memory where the elements of a part lie dense, in the dataset's type.
  void deliver_dense(const Part& part, engine::Buffer& buffer, std::byte* program) const;

  // What the program gives for a part, converted into `buffer` where it must be. The program's
  // thread only.
  [[nodiscard]] Source source_of(const Part& part, const std::byte* program,
                                 engine::Buffer& buffer) const;

  // The bytes of a whole chunk if a place has them as the chunk does; null otherwise.
  template <typename Byte>
  [[nodiscard]] Byte* as_chunk(const Part& part, const Location<Byte>& place) const {
    if (!part.whole) return nullptr;
    if (!transfer_.is_scattered()) return lies_as_chunk(part, place.strides) ? place.data : nullptr;
    if (part.fragments.size() != 1) return nullptr;
    return place.in_order ? place.data
                          : place.data + part.fragments.front().in_memory * dataset_.element;
  }

  // Room for the elements of a part in either type.
  [[nodiscard]] engine::Buffer buffer_for(const Part& part) const;

 private:
  [[nodiscard]] std::size_t program_offset(const Part& part) const;
  [[nodiscard]] std::size_t chunk_offset(const Part& part) const;
  [[nodiscard]] bool lies_as_chunk(const Part& part, const engine::Index& strides) const;
  void convert(hid_t from, hid_t to, const Part& part, engine::Buffer& buffer) const;
  void copy(const Part& part, std::size_t element, const Source& from, const Target& to) const;

  const Chunked& dataset_;
  const ElementTransfer& transfer_;
  hid_t list_;
  engine::Grid grid_;
  engine::Index chunk_strides_;  // bytes between neighbours in a chunk
  engine::Index slab_strides_;   // and between those that are transferred of it
};

// The parts of a transfer, in the order of chunks.
class Parts {
 public:
  explicit Parts(const ChunkTransfer& transfer);
  // False at the end.
  bool next(Part& part);

 private:
  bool next_fragments(Part& part);

  const ChunkTransfer& transfer_;
  engine::Pieces pieces_;
  std::span<const engine::Fragment> left_;
};

}  // namespace headrace::vol

#include "vol/chunks/parts.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace headrace::vol {
namespace {

using engine::Buffer;
using engine::Index;

// An array's part of a chunk that begins there.
std::uint64_t elements_within(const engine::Grid& grid, const Index& origin) {
  Index count{};
  for (unsigned d = 0; d < grid.rank; ++d)
    count[d] = std::min(grid.chunk[d], grid.dims[d] - origin[d]);
  return engine::volume(grid.rank, count);
}

}  // namespace

ChunkTransfer::ChunkTransfer(const Chunked& of, const ElementTransfer& what, hid_t list)
    : dataset_(of),
      transfer_(what),
      list_(list),
      grid_(of.grid()),
      chunk_strides_(engine::strides_of(of.rank, of.chunk, of.element)),
      slab_strides_(chunk_strides_) {
  for (unsigned d = 0; d < of.rank; ++d) slab_strides_[d] *= transfer_.step[d];
}

Part ChunkTransfer::part_in(std::uint64_t chunk, std::size_t fragment) const {
  Part part;
  if (!transfer_.is_scattered()) {
    static_cast<engine::Piece&>(part) =
        engine::piece_in(grid_, transfer_.box, transfer_.step, chunk);
    part.elements = engine::volume(grid_.rank, part.box.count);
    return part;
  }
  const std::span<const engine::Fragment> rest = std::span(transfer_.fragments).subspan(fragment);
  std::size_t count = 0;
  for (; count < rest.size() && rest[count].chunk == chunk; ++count)
    part.elements += rest[count].count;
  part.chunk = chunk;
  part.fragments = rest.first(count);
  part.origin = engine::origin_of(grid_, chunk);
  // Points may be the same one several times.
  part.whole = transfer_.distinct && part.elements == engine::volume(grid_.rank, grid_.chunk);
  part.covers = transfer_.distinct && part.elements == elements_within(grid_, part.origin);
  return part;
}

std::size_t ChunkTransfer::program_offset(const Part& part) const {
  std::size_t offset = transfer_.mem_offset;
  for (unsigned d = 0; d < dataset_.rank; ++d)
    offset +=
        (part.box.start[d] - transfer_.box.start[d]) / transfer_.step[d] * transfer_.mem_strides[d];
  return offset;
}

std::size_t ChunkTransfer::chunk_offset(const Part& part) const {
  std::size_t offset = 0;
  for (unsigned d = 0; d < dataset_.rank; ++d)
    offset += (part.box.start[d] - part.origin[d]) * chunk_strides_[d];
  return offset;
}

bool ChunkTransfer::lies_as_chunk(const Part& part, const Index& strides) const {
  for (unsigned d = 0; d < dataset_.rank; ++d)
    if (part.box.count[d] != 1 && strides[d] != chunk_strides_[d]) return false;
  return true;
}

void ChunkTransfer::gather(const Part& part, const std::byte* chunk, const Target& to) const {
  if (!transfer_.is_scattered())
    engine::copy_box(dataset_.rank, part.box.count, dataset_.element, chunk + chunk_offset(part),
                     slab_strides_, to.data, to.strides);
  else if (to.in_order)
    engine::gather_in_order(part.fragments, dataset_.element, chunk, to.data);
  else
    engine::gather(part.fragments, dataset_.element, chunk, to.data);
}

void ChunkTransfer::scatter(const Part& part, const Source& from, std::byte* chunk) const {
  if (!transfer_.is_scattered())
    engine::copy_box(dataset_.rank, part.box.count, dataset_.element, from.data, from.strides,
                     chunk + chunk_offset(part), slab_strides_);
  else if (from.in_order)
    engine::scatter_in_order(part.fragments, dataset_.element, from.data, chunk);
  else
    engine::scatter(part.fragments, dataset_.element, from.data, chunk);
}

// Between the program's memory and memory where the elements of a part lie dense.
void ChunkTransfer::copy(const Part& part, std::size_t element, const Source& from,
                         const Target& to) const {
  if (!transfer_.is_scattered())
    engine::copy_box(dataset_.rank, part.box.count, element, from.data, from.strides, to.data,
                     to.strides);
  else if (from.in_order)
    engine::put_in_memory(part.fragments, element, from.data, to.data);
  else
    engine::take_from_memory(part.fragments, element, from.data, to.data);
}

Buffer ChunkTransfer::buffer_for(const Part& part) const {
  return Buffer(part.elements * std::max(dataset_.element, transfer_.mem_element));
}

void ChunkTransfer::convert(hid_t from, hid_t to, const Part& part, Buffer& buffer) const {
  if (h5.Tconvert(from, to, part.elements, buffer.data(), nullptr, list_) < 0)
    throw Error("HDF5 cannot convert the elements of a chunk");
}

void ChunkTransfer::deliver(const Part& part, const std::byte* chunk, std::byte* program) const {
  if (!transfer_.converts) return gather(part, chunk, in_program(part, program));
  Buffer buffer = buffer_for(part);
  gather(part, chunk, dense(part, buffer, dataset_.element));
  deliver_dense(part, buffer, program);
}

void ChunkTransfer::deliver_dense(const Part& part, Buffer& buffer, std::byte* program) const {
  if (transfer_.converts) convert(dataset_.type.get(), transfer_.mem_type, part, buffer);
  copy(part, transfer_.mem_element, dense(part, buffer, transfer_.mem_element),
       in_program(part, program));
}

void ChunkTransfer::deliver_fill(const Part& part, std::byte* program) const {
  if (!dataset_.fills) return;  // HDF5 leaves the program's memory as it is
  Buffer buffer = buffer_for(part);
  engine::fill_all(dataset_.fill, buffer.bytes().first(part.elements * dataset_.element));
  deliver_dense(part, buffer, program);
}

Source ChunkTransfer::source_of(const Part& part, const std::byte* program, Buffer& buffer) const {
  const Source given = in_program(part, program);
  if (!transfer_.converts) return given;
  buffer = buffer_for(part);
  copy(part, transfer_.mem_element, given, dense(part, buffer, transfer_.mem_element));
  convert(transfer_.mem_type, dataset_.type.get(), part, buffer);
  return dense(part, buffer, dataset_.element);
}

Parts::Parts(const ChunkTransfer& transfer)
    : transfer_(transfer),
      pieces_(transfer.grid(), transfer.transfer().box, transfer.transfer().step),
      left_(transfer.transfer().fragments) {}

bool Parts::next(Part& part) {
  if (transfer_.transfer().is_scattered()) return next_fragments(part);
  if (!pieces_.next(part)) return false;
  part.elements = engine::volume(transfer_.grid().rank, part.box.count);
  return true;
}

bool Parts::next_fragments(Part& part) {
  if (left_.empty()) return false;
  const std::size_t done = transfer_.transfer().fragments.size() - left_.size();
  part = transfer_.part_in(left_.front().chunk, done);
  left_ = left_.subspan(part.fragments.size());
  return true;
}

}  // namespace headrace::vol

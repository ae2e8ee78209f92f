#include "layers/object/elements/transfer.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"

namespace headrace::object {
namespace {

using engine::Buffer;
using vol::ChunkTransfer;
using vol::Part;

constexpr std::size_t kMostUnstored = std::size_t{64} << 20;  // bytes pending amid a write

// Between the program's memory and memory where the elements of a part lie dense.
void copy_program(const ChunkTransfer& transfer, const Part& part, const vol::Source& from,
                  const vol::Target& to) {
  const std::size_t element = transfer.transfer().mem_element;
  if (!transfer.transfer().is_scattered())
    engine::copy_box(transfer.grid().rank, part.box.count, element, from.data, from.strides,
                     to.data, to.strides);
  else if (from.in_order)
    engine::put_in_memory(part.fragments, element, from.data, to.data);
  else
    engine::take_from_memory(part.fragments, element, from.data, to.data);
}

// Notes in a chunk's marks which elements a part has.
void mark(const ChunkTransfer& transfer, const Part& part, std::byte* written) {
  constexpr std::byte kWritten{1};
  if (transfer.transfer().is_scattered()) {
    for (const engine::Fragment& one : part.fragments)
      std::memset(written + one.in_chunk, 1, one.count);
    return;
  }
  const engine::Grid& grid = transfer.grid();
  engine::Index strides = engine::strides_of(grid.rank, grid.chunk, 1);
  engine::Index start{};
  for (unsigned d = 0; d < grid.rank; ++d) start[d] = part.box.start[d] - part.origin[d];
  std::byte* const first = written + engine::offset_of(grid.rank, start, strides);
  for (unsigned d = 0; d < grid.rank; ++d) strides[d] *= transfer.transfer().step[d];
  engine::fill_box(grid.rank, part.box.count, {&kWritten, 1}, first, strides);
}

// Where in its chunk the elements of a part lie.
objects::Touched touched_by(const ChunkTransfer& transfer, const Part& part) {
  objects::Touched touched{~std::size_t{0}, 0, part.elements};
  if (transfer.transfer().is_scattered()) {
    for (const engine::Fragment& one : part.fragments) {
      touched.first = std::min<std::size_t>(touched.first, one.in_chunk);
      touched.end = std::max<std::size_t>(touched.end, one.in_chunk + one.count);
    }
    return touched;
  }
  const engine::Grid& grid = transfer.grid();
  const engine::Index strides = engine::strides_of(grid.rank, grid.chunk, 1);
  touched.first = 0;
  touched.end = 1;
  for (unsigned d = 0; d < grid.rank; ++d) {
    touched.first += (part.box.start[d] - part.origin[d]) * strides[d];
    touched.end += (part.box.count[d] - 1) * transfer.transfer().step[d] * strides[d];
  }
  touched.end += touched.first;
  return touched;
}

}  // namespace

template <typename Do>
void Transfer::each(const Selection& selection, std::size_t mem_element, const Do& act) const {
  vol::ElementTransfer what;
  what.mem_element = mem_element;
  what.converts = conversion_.converts();
  if (const auto slab = hyperslab_of(selection, mem_element)) {
    static_cast<vol::HyperslabTransfer&>(what) = *slab;
    what.elements = selection.count;
    return act(ChunkTransfer(array_, what, kDefaultPlist));
  }
  what.distinct = h5.Sget_select_type(selection.file.get()) != H5S_SEL_POINTS;
  SelectionParts parts(selection);
  vol::Runs file;
  vol::Runs memory;
  while (parts.next(file, memory)) {
    what.elements = engine::elements_of(file);
    auto fragments = engine::fragments_of(array_.grid(), file, memory, ~std::size_t{0});
    if (!fragments) throw Error("too much is selected");
    what.fragments = *std::move(fragments);
    act(ChunkTransfer(array_, what, kDefaultPlist));
  }
}

Coordinates Transfer::at(const Part& part) const {
  Coordinates at{};
  for (unsigned d = 0; d < array_.rank; ++d) at[d] = part.origin[d] / array_.chunk[d];
  return at;
}

void Transfer::read(const Selection& selection, std::size_t mem_element, std::byte* buffer) {
  each(selection, mem_element,
       [&](const ChunkTransfer& transfer) { read_chunks(transfer, buffer); });
}

void Transfer::read_chunks(const ChunkTransfer& transfer, std::byte* buffer) const {
  constexpr std::size_t kAtATime = 1024;
  vol::Parts parts(transfer);
  std::vector<Part> some;
  std::vector<Coordinates> places;
  Part part;
  for (bool more = parts.next(part); more;) {
    some.clear();
    places.clear();
    for (; more && some.size() < kAtATime; more = parts.next(part)) {
      some.push_back(part);
      places.push_back(at(part));
    }
    chunks_.read_all(places, [&](std::size_t i, const std::byte* chunk) {
      deliver(transfer, some[i], chunk, buffer);
    });
  }
}

void Transfer::deliver(const ChunkTransfer& transfer, const Part& part, const std::byte* chunk,
                       std::byte* buffer) const {
  const auto program = transfer.in_program(part, buffer);
  if (!conversion_.converts()) return transfer.gather(part, chunk, program);
  const std::size_t mem_element = transfer.transfer().mem_element;
  Buffer elements(part.elements * conversion_.room());
  transfer.gather(part, chunk, transfer.dense(part, elements, array_.element));
  Buffer background;
  if (conversion_.keeps()) {
    background = Buffer(part.elements * mem_element);
    copy_program(transfer, part, program, transfer.dense(part, background, mem_element));
  }
  conversion_.run(part.elements, elements, background);
  copy_program(transfer, part, transfer.dense(part, elements, mem_element), program);
}

void Transfer::write(const Selection& selection, std::size_t mem_element, bool is_extent,
                     bool may_flush, const std::byte* buffer) {
  each(selection, mem_element, [&](const ChunkTransfer& transfer) {
    vol::Parts parts(transfer);
    Part part;
    while (parts.next(part)) {
      write_chunk(transfer, part, is_extent, buffer);
      if (may_flush && chunks_.size() > kMostUnstored) chunks_.flush();
    }
  });
}

vol::Source Transfer::source(const ChunkTransfer& transfer, const Part& part,
                             const std::byte* buffer, Buffer& room) const {
  const vol::Source program = transfer.in_program(part, buffer);
  if (!conversion_.converts()) return program;
  room = Buffer(part.elements * conversion_.room());
  copy_program(transfer, part, program,
               transfer.dense(part, room, transfer.transfer().mem_element));
  Buffer background;
  if (conversion_.keeps()) {
    Buffer chunk(array_.chunk_bytes);
    chunks_.read(at(part), chunk.bytes());
    background = Buffer(part.elements * array_.element);
    transfer.gather(part, chunk.data(), transfer.dense(part, background, array_.element));
  }
  conversion_.run(part.elements, room, background);
  return transfer.dense(part, room, array_.element);
}

void Transfer::write_chunk(const ChunkTransfer& transfer, const Part& part, bool is_extent,
                           const std::byte* buffer) const {
  Buffer room;
  const vol::Source from = source(transfer, part, buffer, room);
  if (part.whole || (part.covers && is_extent)) {
    Buffer chunk(array_.chunk_bytes);
    if (!part.whole) engine::fill_all(array_.fill, chunk.bytes());
    transfer.scatter(part, from, chunk.data());
    return chunks_.write(at(part), std::move(chunk));
  }
  const auto put = [&](std::byte* chunk, std::byte* written) {
    transfer.scatter(part, from, chunk);
    if (written != nullptr) mark(transfer, part, written);
  };
  chunks_.write_part(at(part), put, touched_by(transfer, part));
}

}  // namespace headrace::object

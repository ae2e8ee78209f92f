#include "layers/object/elements/layout.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "engine/reading/pieces.hpp"
#include "hdf5/error_stack.hpp"
#include "layers/object/elements/fill.hpp"
#include "vol/chunks/layout.hpp"

namespace headrace::object {
namespace {

constexpr std::size_t kBlock = 1 << 20;        // bytes, about, of a chunk of a contiguous dataset
constexpr std::uint64_t kMostInHeader = 4096;  // bytes

// Whole rows of the slowest dimensions.
engine::Index blocks_of(const vol::Chunked& array) {
  engine::Index chunk{};
  std::uint64_t room = std::max<std::uint64_t>(kBlock / array.element, 1);
  for (unsigned d = array.rank; d-- > 0;) {
    chunk[d] = std::clamp<std::uint64_t>(array.dims[d], 1, room);
    room /= chunk[d];
    // What is slower lies apart as soon as not all of this dimension is in a block.
    if (chunk[d] < array.dims[d]) room = 1;
  }
  return chunk;
}

engine::Index single_block(const vol::Chunked& array) {
  engine::Index chunk = array.dims;
  for (unsigned d = 0; d < array.rank; ++d) chunk[d] = std::max<std::uint64_t>(chunk[d], 1);
  return chunk;
}

}  // namespace

std::uint64_t Layout::bytes() const {
  return engine::volume(chunks.rank, chunks.dims) * chunks.element;
}

std::uint64_t Layout::count_chunks() const { return engine::count_chunks(chunks.grid()); }

Layout layout_of(const objects::Header& header, hid_t dcpl, hid_t file_type) {
  Layout layout;
  vol::Chunked& chunks = layout.chunks;
  chunks.element = h5.Tget_size(file_type);
  if (chunks.element == 0) throw Error("the type has no size: " + root_cause());
  update_dims(header, chunks);
  layout.program = h5.Pget_layout(dcpl);
  const std::uint64_t elements = engine::volume(chunks.rank, chunks.dims);
  if (layout.program == H5D_CHUNKED) {
    const auto shape = vol::chunk_shape(dcpl);
    if (!shape || shape->rank != chunks.rank) throw Error("the chunks have another rank");
    chunks.chunk = shape->lengths;
  } else if (elements <= kMostInHeader / chunks.element && !keeps_fill(file_type, dcpl)) {
    layout.in_header = true;
    chunks.chunk = single_block(chunks);
  } else {
    chunks.chunk = blocks_of(chunks);
  }
  if (!vol::count_chunk_bytes(chunks)) throw Error("the chunks are too large");
  return layout;
}

void update_dims(const objects::Header& header, vol::Chunked& chunks) {
  chunks.dims = {};
  chunks.rank = std::max(static_cast<unsigned>(header.dims.size()), 1U);
  if (header.dims.empty())
    chunks.dims[0] = header.is_null ? 0 : 1;
  else
    std::ranges::copy(header.dims, chunks.dims.begin());
}

}  // namespace headrace::object

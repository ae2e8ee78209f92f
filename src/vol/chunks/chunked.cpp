#include "vol/chunks/chunked.hpp"

#include <algorithm>

#include "hdf5/filters/native_chunks.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/chunks/layout.hpp"
#include "vol/chunks/pipeline.hpp"

namespace headrace::vol {

bool read_chunk_shape(hid_t dcpl, Chunked& dataset) {
  const auto chunks = chunk_shape(dcpl);
  if (!chunks) return false;
  dataset.rank = chunks->rank;
  dataset.chunk = chunks->lengths;
  return true;
}

bool count_chunk_bytes(Chunked& dataset) {
  const std::uint64_t elements = engine::volume(dataset.rank, dataset.chunk);
  return !__builtin_mul_overflow(elements, dataset.element, &dataset.chunk_bytes);
}

bool read_fill(hid_t dcpl, Chunked& dataset) {
  H5D_fill_value_t defined = H5D_FILL_VALUE_ERROR;
  if (h5.Pfill_value_defined(dcpl, &defined) < 0) return false;
  dataset.fills = fills(dcpl);
  dataset.fill.assign(dataset.element, std::byte{0});
  return !dataset.fills || defined != H5D_FILL_VALUE_USER_DEFINED ||
         h5.Pget_fill_value(dcpl, dataset.type.get(), dataset.fill.data()) >= 0;
}

std::optional<Chunked> any_chunked_of(const Object& dataset, Elements&& elements) {
  const PrivateErrors own;
  const auto list = creation_list(dataset);
  const hid_t dcpl = list.get();
  Chunked found;
  static_cast<Elements&>(found) = std::move(elements);
  if (!read_chunk_shape(dcpl, found) || !filters_all_chunks(dcpl) ||
      !read_identity(dataset, found.identity) || !count_chunk_bytes(found) ||
      !read_fill(dcpl, found) || !has_native_chunks({dataset.under, dataset.connector->id()}))
    return std::nullopt;
  if (h5.Pget_nfilters(dcpl) != 0 && !read_pipeline(dcpl, found.chunk_bytes, found.pipeline)) {
    found.pipeline.clear();
    found.by_hdf5 = true;
  }
  return found;
}

std::optional<Chunked> in_blocks(const Object& dataset, Elements&& elements, std::size_t most) {
  const PrivateErrors own;
  const auto list = creation_list(dataset);
  Chunked found;
  static_cast<Elements&>(found) = std::move(elements);
  found.by_hdf5 = true;
  if (h5.Pget_layout(list.get()) != H5D_CONTIGUOUS || h5.Pget_external_count(list.get()) != 0 ||
      !read_identity(dataset, found.identity) || !read_fill(list.get(), found))
    return std::nullopt;
  std::uint64_t room = std::max<std::uint64_t>(most / found.element, 1);
  for (unsigned d = found.rank; d-- > 0;) {
    found.chunk[d] = std::clamp<std::uint64_t>(found.dims[d], 1, room);
    room /= found.chunk[d];
    // What is slower lies apart as soon as not all of this dimension is in a block.
    if (found.chunk[d] < found.dims[d]) room = 1;
  }
  if (!count_chunk_bytes(found)) return std::nullopt;
  return found;
}

std::optional<Chunked> chunked_of(const Object& dataset) {
  const PrivateErrors own;
  Elements elements;
  if (!read_type(dataset, elements) || !read_extent(dataset, elements)) return std::nullopt;
  auto found = any_chunked_of(dataset, std::move(elements));
  if (found && found->by_hdf5) found.reset();
  return found;
}

}  // namespace headrace::vol

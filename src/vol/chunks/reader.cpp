#include "vol/chunks/reader.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/dataset/box_io.hpp"

namespace headrace::vol {
namespace {

bool one_chunk(const Chunked& dataset) {
  for (unsigned d = 0; d < dataset.rank; ++d)
    if (dataset.dims[d] > dataset.chunk[d]) return false;
  return true;
}

}  // namespace

std::array<hsize_t, engine::kMaxRank> offsets_of(const engine::Index& origin) {
  std::array<hsize_t, engine::kMaxRank> result{};
  std::ranges::copy(origin, result.begin());
  return result;
}

StoredChunk load_chunk(const Chunked& dataset, const UnderDataset& below,
                       const engine::Index& origin) {
  const auto offsets = offsets_of(origin);
  StoredChunk chunk;
  const std::uint64_t size = stored_size(below, offsets.data());
  // Of a dataset that is one chunk HDF5 does not tell that it has the chunk, but in memory only.
  if (size == 0 && one_chunk(dataset)) throw Error("the only chunk may be in HDF5's memory");
  if (size == 0) return chunk;
  chunk.bytes = engine::Buffer(size);
  chunk.mask = read_stored(below, offsets.data(), chunk.bytes.bytes());
  return chunk;
}

bool is_stored(const UnderDataset& below, const engine::Index& origin) {
  return stored_size(below, offsets_of(origin).data()) > 0;
}

void decode(const Chunked& dataset, const StoredChunk& stored, std::span<std::byte> chunk) {
  if (stored.bytes.size() == 0)
    engine::fill_all(dataset.fill, chunk);
  else
    engine::decode(dataset.pipeline, stored.mask, stored.bytes.bytes(), chunk);
}

engine::Buffer read_chunk(const Chunked& dataset, const UnderDataset& below,
                          const engine::Index& origin) {
  const PrivateErrors own;
  engine::Buffer chunk(dataset.chunk_bytes);
  decode(dataset, load_chunk(dataset, below, origin), chunk.bytes());
  return chunk;
}

void read_by_hdf5(Object& object, const Chunked& dataset, const engine::Index& origin,
                  std::span<std::byte> chunk) {
  engine::Box box{origin, dataset.chunk};
  for (unsigned d = 0; d < dataset.rank; ++d)
    box.count[d] = std::min(dataset.chunk[d], dataset.dims[d] - origin[d]);
  const bool whole = box.count == dataset.chunk;
  engine::Buffer part(whole ? 0 : engine::volume(dataset.rank, box.count) * dataset.element);
  std::byte* const to = whole ? chunk.data() : part.data();
  if (!read_box(object, dataset, box, to)) throw Error("HDF5 cannot read the chunk");
  if (whole) return;
  engine::fill_all(dataset.fill, chunk);
  engine::copy_box(dataset.rank, box.count, dataset.element, to,
                   engine::strides_of(dataset.rank, box.count, dataset.element), chunk.data(),
                   engine::strides_of(dataset.rank, dataset.chunk, dataset.element));
}

}  // namespace headrace::vol

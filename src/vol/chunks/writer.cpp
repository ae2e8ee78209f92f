#include "vol/chunks/writer.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "vol/chunks/reader.hpp"
#include "vol/dataset/box_io.hpp"

namespace headrace::vol {

void write_encoded(const UnderDataset& below, const engine::Index& origin,
                   std::span<const std::byte> encoded) {
  write_stored(below, offsets_of(origin).data(), encoded);
}

bool write_decoded(Object& dataset, Chunked& known, const engine::Index& origin,
                   std::span<const std::byte> chunk) {
  if (!update_dims(known, dataset)) throw Error("HDF5 does not tell the dataset's extent");
  engine::Box box{origin, {}};
  for (unsigned d = 0; d < known.rank; ++d) {
    if (origin[d] >= known.dims[d]) return false;
    box.count[d] = std::min(known.chunk[d], known.dims[d] - origin[d]);
  }
  engine::Buffer dense(engine::volume(known.rank, box.count) * known.element);
  engine::copy_box(known.rank, box.count, known.element, chunk.data(),
                   engine::strides_of(known.rank, known.chunk, known.element), dense.data(),
                   engine::strides_of(known.rank, box.count, known.element));
  if (!write_box(dataset, known, box, dense.data())) throw Error("HDF5 cannot write a chunk");
  return true;
}

void require_all_filters(const UnderDataset& below, const engine::Index& origin) {
  const auto offsets = offsets_of(origin);
  const std::uint64_t size = stored_size(below, offsets.data());
  if (size == 0) return;
  engine::Buffer bytes(size);
  require_all_filters(read_stored(below, offsets.data(), bytes.bytes()));
}

void require_all_filters(std::uint32_t mask) {
  if (mask != 0) throw Error("a chunk is stored without some of the filters");
}

}  // namespace headrace::vol

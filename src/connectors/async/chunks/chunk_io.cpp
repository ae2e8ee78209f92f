#include "connectors/async/chunks/chunk_io.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "connectors/async/statistics.hpp"
#include "engine/threads/thread_pool.hpp"
#include "vol/dataset/box_io.hpp"

namespace headrace::async {
namespace {

std::array<hsize_t, engine::kMaxRank> origin_of(const engine::Index& origin) {
  std::array<hsize_t, engine::kMaxRank> result{};
  std::ranges::copy(origin, result.begin());
  return result;
}

// The part of a chunk that lies within the extent.
void write_by_hdf5(Dataset& dataset, const engine::Index& origin, std::span<const std::byte> raw) {
  vol::Object& object = *dataset.handle;
  if (!update_dims(dataset, object)) throw Error("HDF5 does not tell the dataset's extent");
  engine::Box box{origin, {}};
  for (unsigned d = 0; d < dataset.rank; ++d) {
    if (origin[d] >= dataset.dims[d]) return;
    box.count[d] = std::min(dataset.chunk[d], dataset.dims[d] - origin[d]);
  }
  engine::Buffer dense(engine::volume(dataset.rank, box.count) * dataset.element);
  engine::copy_box(dataset.rank, box.count, dataset.element, raw.data(),
                   engine::strides_of(dataset.rank, dataset.chunk, dataset.element), dense.data(),
                   engine::strides_of(dataset.rank, box.count, dataset.element));
  masks_are_possible(vol::Touched::dataset(dataset.identity));
  ++dataset.left_out;
  ++statistics().left_out;
  if (!vol::write_box(object, dataset, box, dense.data())) throw Error("HDF5 cannot write a chunk");
}

bool one_chunk(const Dataset& dataset) {
  for (unsigned d = 0; d < dataset.rank; ++d)
    if (dataset.dims[d] > dataset.chunk[d]) return false;
  return true;
}

}  // namespace

void store_chunk(Dataset& dataset, const engine::Index& origin, const engine::Buffer& encoded,
                 std::span<const std::byte> raw) {
  try {
    if (encoded.size() == 0) {
      write_by_hdf5(dataset, origin, raw);
      return;
    }
    write_stored(dataset.under(), origin_of(origin).data(), encoded.bytes());
  } catch (const Error& error) {
    std::throw_with_nested(Error("writing " + describe(*dataset.handle) + " failed"));
  }
  ++dataset.stored;
  ++statistics().encoded;
  statistics().encoded_bytes += dataset.chunk_bytes;
  statistics().stored_bytes += encoded.size();
}

bool is_stored(const Dataset& dataset, const engine::Index& place) {
  return !dataset.fresh && stored_size(dataset.under(), origin_of(place).data()) > 0;
}

void require_all_filters(const Dataset& dataset, const engine::Index& place) {
  if (dataset.fresh) return;
  const auto origin = origin_of(place);
  const std::uint64_t size = stored_size(dataset.under(), origin.data());
  if (size == 0) return;
  engine::Buffer bytes(size);
  require_all_filters(read_stored(dataset.under(), origin.data(), bytes.bytes()));
}

void require_all_filters(std::uint32_t mask) {
  if (mask != 0) throw Error("a chunk is stored without some of the filters");
}

StoredChunk load_chunk(const Dataset& dataset, const engine::Index& place) {
  const auto origin = origin_of(place);
  StoredChunk chunk;
  const std::uint64_t size = stored_size(dataset.under(), origin.data());
  // Of a dataset that is one chunk HDF5 does not tell that it has the chunk, but in memory only.
  if (size == 0 && one_chunk(dataset)) throw Error("the only chunk may be in HDF5's memory");
  if (size == 0) return chunk;
  chunk.bytes = engine::Buffer(size);
  chunk.mask = read_stored(dataset.under(), origin.data(), chunk.bytes.bytes());
  ++statistics().decoded;
  statistics().decoded_bytes += dataset.chunk_bytes;
  return chunk;
}

std::size_t window_of(const Dataset& dataset) {
  constexpr std::size_t kMostInFlight = 64 << 20;
  const std::size_t wanted = 2 * std::size_t{engine::workers()} + 2;
  return std::clamp(kMostInFlight / std::max<std::size_t>(dataset.chunk_bytes, 1), std::size_t{2},
                    wanted);
}

}  // namespace headrace::async

#include "layers/async/connector/chunks/chunk_io.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "engine/threads/thread_pool.hpp"
#include "layers/async/connector/statistics.hpp"

namespace headrace::async {
namespace {

void write_by_hdf5(Dataset& dataset, const engine::Index& origin, std::span<const std::byte> raw) {
  masks_are_possible(vol::Touched::dataset(dataset.identity));
  if (!vol::write_decoded(*dataset.handle, dataset, origin, raw)) return;
  ++dataset.left_out;
  ++statistics().left_out;
}

}  // namespace

void store_chunk(Dataset& dataset, const engine::Index& origin, const engine::Buffer& encoded,
                 std::span<const std::byte> raw) {
  try {
    if (encoded.size() == 0) {
      write_by_hdf5(dataset, origin, raw);
      return;
    }
    vol::write_encoded(dataset.under(), origin, encoded.bytes());
  } catch (const Error& error) {
    std::throw_with_nested(Error("writing " + describe(*dataset.handle) + " failed"));
  }
  ++dataset.stored;
  ++statistics().encoded;
  statistics().encoded_bytes += dataset.chunk_bytes;
  statistics().stored_bytes += encoded.size();
}

bool is_stored(const Dataset& dataset, const engine::Index& origin) {
  return !dataset.fresh && vol::is_stored(dataset.under(), origin);
}

void require_all_filters(const Dataset& dataset, const engine::Index& origin) {
  if (!dataset.fresh) vol::require_all_filters(dataset.under(), origin);
}

StoredChunk load_chunk(const Dataset& dataset, const engine::Index& origin) {
  StoredChunk chunk = vol::load_chunk(dataset, dataset.under(), origin);
  if (chunk.bytes.size() == 0) return chunk;
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

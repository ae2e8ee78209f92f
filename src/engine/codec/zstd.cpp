#include "engine/codec/zstd.hpp"

#include <zstd.h>

#include <new>

#include "base/error.hpp"
#include "engine/codec/shelf.hpp"

namespace headrace::engine {
namespace {

using Compressors = Shelf<ZSTD_CCtx, ZSTD_freeCCtx>;
using Decompressors = Shelf<ZSTD_DCtx, ZSTD_freeDCtx>;

Compressors& compressors() {
  static auto& shelf = *new Compressors;
  return shelf;
}

Decompressors& decompressors() {
  static auto& shelf = *new Decompressors;
  return shelf;
}

}  // namespace

int lowest_zstd_level() { return ZSTD_minCLevel(); }
int highest_zstd_level() { return ZSTD_maxCLevel(); }

Buffer zstd_compress(int level, std::span<const std::byte> from) {
  auto codec = compressors().take();
  if (codec == nullptr) codec.reset(ZSTD_createCCtx());
  if (codec == nullptr) throw std::bad_alloc();
  Buffer to(ZSTD_compressBound(from.size()));
  const std::size_t size =
      ZSTD_compressCCtx(codec.get(), to.data(), to.size(), from.data(), from.size(), level);
  compressors().give_back(std::move(codec));
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();  // the room is enough
  to.resize(size);
  return to;
}

void zstd_decompress(std::span<const std::byte> from, std::span<std::byte> to) {
  auto codec = decompressors().take();
  if (codec == nullptr) codec.reset(ZSTD_createDCtx());
  if (codec == nullptr) throw std::bad_alloc();
  const std::size_t size =
      ZSTD_decompressDCtx(codec.get(), to.data(), to.size(), from.data(), from.size());
  decompressors().give_back(std::move(codec));
  if (ZSTD_isError(size) != 0) throw Error("the compressed data is damaged (zstd)");
  if (size != to.size()) throw Error("the compressed data has another size");
}

}  // namespace headrace::engine

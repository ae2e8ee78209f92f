#include "engine/codec/zstd.hpp"

#define ZSTD_STATIC_LINKING_ONLY  // ZSTD_c_blockSplitterLevel
#include <zstd.h>

#include <new>

#include "base/error.hpp"
#include "engine/codec/shelf.hpp"

namespace headrace::engine {
namespace {

using Encoders = Shelf<ZSTD_CCtx, ZSTD_freeCCtx>;
using Decoders = Shelf<ZSTD_DCtx, ZSTD_freeDCtx>;

Encoders& encoders() {
  static auto& shelf = *new Encoders;
  return shelf;
}

Decoders& decoders() {
  static auto& shelf = *new Decoders;
  return shelf;
}

// Null when there is no memory.
Encoders::Owned new_compressor() {
  Encoders::Owned codec(ZSTD_createCCtx());
#if ZSTD_VERSION_NUMBER >= 10507
  // Splits no blocks by what is in them: on shuffled floats that takes a fifth of the time, and
  // gains nothing.
  if (codec != nullptr) ZSTD_CCtx_setParameter(codec.get(), ZSTD_c_blockSplitterLevel, 1);
#endif
  return codec;
}

}  // namespace

int lowest_zstd_level() { return ZSTD_minCLevel(); }
int highest_zstd_level() { return ZSTD_maxCLevel(); }

Buffer zstd_compress(int level, std::span<const std::byte> from) {
  auto codec = encoders().take();
  if (codec == nullptr) codec = new_compressor();
  if (codec == nullptr) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(codec.get(), ZSTD_c_compressionLevel, level);
  Buffer to(ZSTD_compressBound(from.size()));
  const std::size_t size =
      ZSTD_compress2(codec.get(), to.data(), to.size(), from.data(), from.size());
  encoders().give_back(std::move(codec));
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();  // the room is enough
  to.resize(size);
  return to;
}

void zstd_decompress(std::span<const std::byte> from, std::span<std::byte> to) {
  auto codec = decoders().take();
  if (codec == nullptr) codec.reset(ZSTD_createDCtx());
  if (codec == nullptr) throw std::bad_alloc();
  const std::size_t size =
      ZSTD_decompressDCtx(codec.get(), to.data(), to.size(), from.data(), from.size());
  decoders().give_back(std::move(codec));
  if (ZSTD_isError(size) != 0)
    throw Error("the compressed data is damaged (zstd)", ErrorKind::corrupt);
  if (size != to.size()) throw Error("the compressed data has another size", ErrorKind::corrupt);
}

}  // namespace headrace::engine

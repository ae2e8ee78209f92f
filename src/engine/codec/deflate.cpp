#include "engine/codec/deflate.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <new>

#include "base/error.hpp"
#include "engine/codec/shelf.hpp"

namespace headrace::engine {
namespace {

// The fastest level of libdeflate whose output is no larger than zlib's at each level: measured on
// smooth and noisy floats, quantised floats, counters and noisy 16-bit images, shuffled and not.
constexpr std::array<int, 10> kLevels{0, 2, 2, 2, 2, 5, 6, 7, 7, 8};
// On little data those are up to a third larger than zlib; this one is not, at about zlib's speed.
constexpr int kThorough = 10;
constexpr std::size_t kLittle = 8 << 10;

using Compressors = Shelf<libdeflate_compressor, libdeflate_free_compressor>;
using Decompressors = Shelf<libdeflate_decompressor, libdeflate_free_decompressor>;

Compressors& compressors(int level) {
  static auto& shelves = *new std::array<Compressors, kThorough + 1>;
  return shelves.at(static_cast<std::size_t>(level));
}

Decompressors& decompressors() {
  static auto& shelf = *new Decompressors;
  return shelf;
}

}  // namespace

Buffer deflate(unsigned level, std::span<const std::byte> from) {
  const int codec_level = level > 0 && from.size() < kLittle ? kThorough : kLevels.at(level);
  auto& shelf = compressors(codec_level);
  auto codec = shelf.take();
  if (codec == nullptr) codec.reset(libdeflate_alloc_compressor(codec_level));
  if (codec == nullptr) throw std::bad_alloc();
  Buffer to(libdeflate_zlib_compress_bound(codec.get(), from.size()));
  const std::size_t size =
      libdeflate_zlib_compress(codec.get(), from.data(), from.size(), to.data(), to.size());
  if (size == 0) throw Error("deflate went over its own bound");
  to.resize(size);
  shelf.give_back(std::move(codec));
  return to;
}

void inflate(std::span<const std::byte> from, std::span<std::byte> to) {
  auto codec = decompressors().take();
  if (codec == nullptr) codec.reset(libdeflate_alloc_decompressor());
  if (codec == nullptr) throw std::bad_alloc();
  const libdeflate_result result = libdeflate_zlib_decompress(codec.get(), from.data(), from.size(),
                                                              to.data(), to.size(), nullptr);
  decompressors().give_back(std::move(codec));
  if (result == LIBDEFLATE_SUCCESS) return;
  throw Error(result == LIBDEFLATE_BAD_DATA ? "the compressed data is damaged"
                                            : "the compressed data has another size",
              ErrorKind::corrupt);
}

}  // namespace headrace::engine

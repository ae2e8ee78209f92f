#include "engine/codec/blosc.hpp"

#include <lz4.h>
#include <lz4hc.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.hpp"
#include "engine/codec/bytes.hpp"
#include "engine/codec/deflate.hpp"
#include "engine/codec/shuffle.hpp"
#include "engine/codec/zstd.hpp"

// A buffer is a header of 16 bytes (version of the format, version of the compressor's format,
// flags, bytes of an element, and in four little-endian bytes each: size of the data, of a block,
// of the buffer), then where each block begins, then the blocks. A block is shuffled, and cut into
// as many parts as an element has bytes, or one: its compressed size, and what is compressed. A
// part whose compressed size is its size is stored as it is. All data may be, right after the
// header.
namespace headrace::engine {
namespace {

using Compressor = BloscOptions::Compressor;
using Bytes = std::span<const std::byte>;

constexpr std::size_t kHeader = 16;
constexpr std::size_t kSize = 4;
constexpr std::size_t kLeast = 128;  // parts of blocks and buffers are not smaller
constexpr std::size_t kMostParts = 16;

constexpr unsigned kVersion = 2;
constexpr unsigned kFormatVersion = 1;
constexpr unsigned kShuffled = 1;
constexpr unsigned kStored = 2;
constexpr unsigned kBitShuffled = 4;
constexpr unsigned kUnknown = 8;
constexpr unsigned kOnePart = 16;
constexpr unsigned kFormatBit = 5;

enum class Format : unsigned { lz4 = 1, zlib = 3, zstd = 4 };

Format format_of(Compressor compressor) {
  if (compressor == Compressor::zlib) return Format::zlib;
  return compressor == Compressor::zstd ? Format::zstd : Format::lz4;
}

const char* chars(Bytes bytes) { return reinterpret_cast<const char*>(bytes.data()); }
char* chars(std::span<std::byte> bytes) { return reinterpret_cast<char*>(bytes.data()); }
int length(Bytes bytes) { return static_cast<int>(bytes.size()); }

bool can_split(std::size_t element, std::size_t block) {
  return element <= kMostParts && block / element >= kLeast;
}

bool splits(const BloscOptions& options, std::size_t block) {
  return options.compressor != Compressor::zstd && can_split(options.element, block);
}

// Blosc's own choice: it decides how tight the result is.
std::size_t block_size(const BloscOptions& options, std::size_t size) {
  if (size < options.element) return 1;
  std::size_t block = size;
  constexpr std::size_t kFirstLevelCache = 32 << 10;
  if (size >= kFirstLevelCache) {
    constexpr std::array<unsigned, 10> kQuarters{1, 2, 4, 8, 16, 16, 32, 32, 32, 32};
    block = kFirstLevelCache / 4 * kQuarters.at(options.level);
    if (options.compressor != Compressor::lz4) block *= options.level == 9 ? 4 : 2;
  }
  if (options.level > 0 && splits(options, block)) {
    constexpr std::size_t kLargestPart = 256 << 10;
    block = std::clamp(std::min(block, kLargestPart) * options.element, std::size_t{64} << 10,
                       std::size_t{1} << 20);
  }
  block = std::min(block, size);
  return block > options.element ? block / options.element * options.element : block;
}

// The size, 0 when it does not fit.
std::size_t pack(const BloscOptions& options, Bytes from, std::span<std::byte> to) {
  const auto level = static_cast<int>(options.level);
  switch (options.compressor) {
    case Compressor::lz4:
      return static_cast<std::size_t>(
          LZ4_compress_fast(chars(from), chars(to), length(from), length(to), 10 - level));
    case Compressor::lz4hc:  // below level 3 newer libraries are tighter
      return static_cast<std::size_t>(
          LZ4_compress_HC(chars(from), chars(to), length(from), length(to), std::max(level, 3)));
    case Compressor::zlib: {
      const Buffer packed = deflate(options.level, from);
      if (packed.size() > to.size()) return 0;
      std::memcpy(to.data(), packed.data(), packed.size());
      return packed.size();
    }
    case Compressor::zstd:
      return zstd_compress(level < 9 ? 2 * level - 1 : highest_zstd_level(), from, to);
  }
  return 0;
}

[[noreturn]] void damaged() { throw Error("the compressed data is damaged (blosc)"); }

void unpack(Format format, Bytes from, std::span<std::byte> to) {
  if (format == Format::zlib)
    inflate(from, to);
  else if (format == Format::zstd)
    zstd_decompress(from, to);
  else if (LZ4_decompress_safe(chars(from), chars(to), length(from), length(to)) != length(to))
    damaged();
}

void put_header(const BloscOptions& options, std::size_t block, unsigned flags, std::size_t size,
                std::span<std::byte> to) {
  flags |= options.shuffle ? kShuffled : 0U;
  flags |= splits(options, block) ? 0U : kOnePart;
  flags |= static_cast<unsigned>(format_of(options.compressor)) << kFormatBit;
  to[0] = std::byte{kVersion};
  to[1] = std::byte{kFormatVersion};
  to[2] = static_cast<std::byte>(flags);
  to[3] = static_cast<std::byte>(options.element);
  put_little_endian(to.subspan(4), static_cast<std::uint32_t>(size));
  put_little_endian(to.subspan(8), static_cast<std::uint32_t>(block));
  put_little_endian(to.subspan(12), static_cast<std::uint32_t>(to.size()));
}

Buffer store(const BloscOptions& options, std::size_t block, Bytes from) {
  Buffer result(kHeader + from.size());
  put_header(options, block, kStored, from.size(), result.bytes());
  std::memcpy(result.data() + kHeader, from.data(), from.size());
  return result;
}

// The parts of a block one after the other; the size, 0 when it does not fit.
std::size_t pack_block(const BloscOptions& options, std::size_t parts, Bytes from,
                       std::span<std::byte> to) {
  const std::size_t part = from.size() / parts;
  std::size_t at = 0;
  for (std::size_t i = 0; i < parts; ++i) {
    if (to.size() - at <= kSize) return 0;
    const auto room = to.subspan(at + kSize);
    const auto plain = from.subspan(i * part, part);
    std::size_t size = pack(options, plain, room.first(std::min(part, room.size())));
    if (size == 0 || size >= part) {  // that size means that it is not compressed
      if (room.size() < part) return 0;
      std::memcpy(room.data(), plain.data(), part);
      size = part;
    }
    put_little_endian(to.subspan(at), static_cast<std::uint32_t>(size));
    at += kSize + size;
  }
  return at;
}

// What is at the front of a buffer.
struct Header {
  Format format;
  std::size_t element;
  std::size_t block;
  bool shuffled;
  bool stored;
  bool one_part;
};

Header header_of(Bytes from, std::size_t size) {
  if (from.size() < kHeader) damaged();
  const auto byte = [&](std::size_t i) { return std::to_integer<unsigned>(from[i]); };
  const unsigned flags = byte(2);
  const Header header{static_cast<Format>(flags >> kFormatBit),
                      byte(3),
                      little_endian(from.subspan(8)),
                      (flags & kShuffled) != 0 && byte(3) > 1,
                      (flags & kStored) != 0,
                      (flags & kOnePart) != 0};
  if (byte(0) != kVersion || (flags & (kBitShuffled | kUnknown)) != 0)
    throw Error("the data is in another format of blosc");
  if (little_endian(from.subspan(4)) != size) throw Error("the compressed data has another size");
  if (header.element == 0 || header.block == 0 || header.block > size ||
      little_endian(from.subspan(12)) != from.size())
    damaged();
  if (header.stored) {
    if (from.size() - kHeader != size) damaged();
  } else if (byte(1) != kFormatVersion ||
             (header.format != Format::lz4 && header.format != Format::zlib &&
              header.format != Format::zstd)) {
    throw Error("the data is of another compressor of blosc");
  }
  return header;
}

void unpack_block(const Header& header, std::size_t at, Bytes from, std::span<std::byte> to) {
  const bool splits =
      !header.one_part && can_split(header.element, to.size()) && to.size() == header.block;
  const std::size_t parts = splits ? header.element : 1;
  if (to.size() % parts != 0) damaged();
  const std::size_t part = to.size() / parts;
  for (std::size_t i = 0; i < parts; ++i, to = to.subspan(part)) {
    if (at > from.size() || from.size() - at < kSize) damaged();
    const std::size_t size = little_endian(from.subspan(at));
    at += kSize;
    if (size > from.size() - at) damaged();
    const auto packed = from.subspan(at, size);
    at += size;
    if (size == part)
      std::memcpy(to.data(), packed.data(), part);
    else
      unpack(header.format, packed, to.first(part));
  }
}

}  // namespace

Buffer blosc_compress(const BloscOptions& options, std::span<const std::byte> from) {
  const std::size_t block = block_size(options, from.size());
  if (options.level == 0 || from.size() < kLeast) return store(options, block, from);
  const std::size_t blocks = (from.size() + block - 1) / block;
  Buffer result(from.size() - 1);  // what is as large is stored, and larger
  Buffer shuffled(options.shuffle ? block : 0);
  std::size_t end = kHeader + blocks * kSize;
  for (std::size_t i = 0; i < blocks; ++i) {
    auto plain = from.subspan(i * block, std::min(block, from.size() - i * block));
    const std::size_t parts = plain.size() == block && splits(options, block) ? options.element : 1;
    if (options.shuffle) {
      const auto to = shuffled.bytes().first(plain.size());
      shuffle(options.element, plain, to);
      plain = to;
    }
    if (end >= result.size()) return store(options, block, from);
    const std::size_t size = pack_block(options, parts, plain, result.bytes().subspan(end));
    if (size == 0) return store(options, block, from);
    put_little_endian(result.bytes().subspan(kHeader + i * kSize), static_cast<std::uint32_t>(end));
    end += size;
  }
  result.resize(end);
  put_header(options, block, 0, from.size(), result.bytes());
  return result;
}

void blosc_decompress(std::span<const std::byte> from, std::span<std::byte> to) {
  const Header header = header_of(from, to.size());
  if (header.stored) {
    std::memcpy(to.data(), from.data() + kHeader, to.size());
    return;
  }
  const std::size_t blocks = (to.size() + header.block - 1) / header.block;
  if (blocks > (from.size() - kHeader) / kSize) damaged();
  Buffer shuffled(header.shuffled ? header.block : 0);
  for (std::size_t i = 0; i < blocks; ++i) {
    const auto block =
        to.subspan(i * header.block, std::min(header.block, to.size() - i * header.block));
    const std::size_t at = little_endian(from.subspan(kHeader + i * kSize));
    if (header.shuffled) {
      const auto unpacked = shuffled.bytes().first(block.size());
      unpack_block(header, at, from, unpacked);
      unshuffle(header.element, unpacked, block);
    } else {
      unpack_block(header, at, from, block);
    }
  }
}

}  // namespace headrace::engine

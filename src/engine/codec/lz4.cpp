#include "engine/codec/lz4.hpp"

#include <lz4.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "engine/codec/bytes.hpp"

// The size of all in 8 bytes, that of a block in 4; then each block after its compressed size in 4.
// All are big-endian. A block whose compressed size is its size is stored as it is.
namespace headrace::engine {
namespace {

constexpr std::size_t kHeader = 12;
constexpr std::size_t kSize = 4;
constexpr std::size_t kDefaultBlock = std::size_t{1} << 30U;

const char* chars(std::span<const std::byte> bytes) {
  return reinterpret_cast<const char*>(bytes.data());
}
char* chars(std::span<std::byte> bytes) { return reinterpret_cast<char*>(bytes.data()); }

[[noreturn]] void damaged() {
  throw Error("the compressed data is damaged (lz4)", ErrorKind::corrupt);
}

void unpack(std::span<const std::byte> from, std::span<std::byte> to) {
  if (from.size() == to.size()) {
    std::memcpy(to.data(), from.data(), to.size());
    return;
  }
  if (!std::in_range<int>(from.size()) || !std::in_range<int>(to.size())) damaged();
  const auto room = static_cast<int>(to.size());
  if (LZ4_decompress_safe(chars(from), chars(to), static_cast<int>(from.size()), room) != room)
    damaged();
}

}  // namespace

Buffer lz4_compress(std::size_t block, std::span<const std::byte> from) {
  if (block == 0) block = kDefaultBlock;
  block = std::min(block, from.size());
  const std::size_t blocks = (from.size() + block - 1) / block;
  const auto bound = static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(block)));
  // While a block is being compressed it may be larger than it will be stored.
  Buffer result(kHeader + blocks * kSize + from.size() + (bound - block));
  std::span<std::byte> to = result.bytes();
  put_big_endian(to, 0);
  put_big_endian(to.subspan(4), static_cast<std::uint32_t>(from.size()));
  put_big_endian(to.subspan(8), static_cast<std::uint32_t>(block));
  to = to.subspan(kHeader);
  while (!from.empty()) {
    const auto plain = from.first(std::min(block, from.size()));
    const auto packed = to.subspan(kSize).first(std::min(bound, to.size() - kSize));
    auto size = static_cast<std::size_t>(LZ4_compress_default(chars(plain), chars(packed),
                                                              static_cast<int>(plain.size()),
                                                              static_cast<int>(packed.size())));
    if (size == 0 || size >= plain.size()) {
      size = plain.size();
      std::memcpy(packed.data(), plain.data(), size);
    }
    put_big_endian(to, static_cast<std::uint32_t>(size));
    to = to.subspan(kSize + size);
    from = from.subspan(plain.size());
  }
  result.resize(result.size() - to.size());
  return result;
}

void lz4_decompress(std::span<const std::byte> from, std::span<std::byte> to) {
  if (from.size() < kHeader) damaged();
  if (big_endian(from) != 0 || big_endian(from.subspan(4)) != to.size())
    throw Error("the compressed data has another size", ErrorKind::corrupt);
  const std::size_t block = std::min<std::size_t>(big_endian(from.subspan(8)), to.size());
  if (block == 0) damaged();
  from = from.subspan(kHeader);
  while (!to.empty()) {
    const auto plain = to.first(std::min(block, to.size()));
    if (from.size() < kSize) damaged();
    const std::size_t size = big_endian(from);
    if (size > from.size() - kSize) damaged();
    unpack(from.subspan(kSize, size), plain);
    from = from.subspan(kSize + size);
    to = to.subspan(plain.size());
  }
  if (!from.empty()) damaged();
}

}  // namespace headrace::engine

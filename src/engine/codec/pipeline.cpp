#include "engine/codec/pipeline.hpp"

#include <array>
#include <cstring>

#include "base/error.hpp"
#include "engine/codec/deflate.hpp"
#include "engine/codec/fletcher32.hpp"
#include "engine/codec/shuffle.hpp"

namespace headrace::engine {
namespace {

using Kind = Filter::Kind;
constexpr std::size_t kChecksum = 4;

// Stored little-endian.
std::array<std::byte, kChecksum> bytes_of(std::uint32_t checksum) {
  std::array<std::byte, kChecksum> bytes{};
  for (unsigned i = 0; i < kChecksum; ++i) bytes.at(i) = std::byte(checksum >> 8 * i & 0xffU);
  return bytes;
}

std::span<const std::byte> checked(std::span<const std::byte> bytes) {
  if (bytes.size() < kChecksum) throw Error("the chunk is too small for its checksum");
  const auto data = bytes.first(bytes.size() - kChecksum);
  std::uint32_t stored = 0;
  for (unsigned i = 0; i < kChecksum; ++i)
    stored |= std::to_integer<std::uint32_t>(bytes[data.size() + i]) << 8 * i;
  if (data.empty() || !fletcher32_matches(stored, data))
    throw Error("the chunk's checksum (fletcher32) does not match");
  return data;
}

bool applied(std::uint32_t mask, std::size_t filter) {
  return filter >= 32 || (mask >> filter & 1U) == 0;
}

}  // namespace

Buffer encode(const Pipeline& pipeline, std::span<const std::byte> raw) {
  Buffer now;
  std::span<const std::byte> bytes = raw;
  for (const Filter& filter : pipeline) {
    Buffer next;
    switch (filter.kind) {
      case Kind::deflate:
        next = deflate(filter.parameter, bytes);
        break;
      case Kind::shuffle:
        next = Buffer(bytes.size());
        shuffle(filter.parameter, bytes, next.bytes());
        break;
      case Kind::fletcher32: {
        const auto checksum = bytes_of(fletcher32(bytes));
        const std::size_t size = bytes.size();
        if (now.size() > 0) {
          next = std::move(now);
          next.resize(size + kChecksum);
        } else {
          next = Buffer(size + kChecksum);
          std::memcpy(next.data(), bytes.data(), size);
        }
        std::memcpy(next.data() + size, checksum.data(), kChecksum);
        break;
      }
    }
    now = std::move(next);
    bytes = now.bytes();
  }
  return now;
}

void decode(const Pipeline& pipeline, std::uint32_t mask, std::span<const std::byte> stored,
            std::span<std::byte> raw) {
  // The size before deflate is that of the chunk and of the checksums that come earlier.
  std::size_t plain = raw.size();
  std::size_t first = pipeline.size();  // of those to undo, which writes into `raw`
  for (std::size_t i = pipeline.size(); i-- > 0;)
    if (applied(mask, i) && pipeline[i].kind != Kind::fletcher32) first = i;
  for (std::size_t i = 0; i < pipeline.size() && pipeline[i].kind != Kind::deflate; ++i)
    if (applied(mask, i) && pipeline[i].kind == Kind::fletcher32) plain += kChecksum;

  Buffer now;
  std::span<const std::byte> bytes = stored;
  for (std::size_t i = pipeline.size(); i-- > 0;) {
    if (!applied(mask, i)) continue;
    if (pipeline[i].kind == Kind::fletcher32) {
      bytes = checked(bytes);
      continue;
    }
    const std::size_t size = pipeline[i].kind == Kind::deflate ? plain : bytes.size();
    const bool last = i == first && size == raw.size();
    Buffer next = last ? Buffer() : Buffer(size);
    const std::span<std::byte> to = last ? raw : next.bytes();
    if (pipeline[i].kind == Kind::deflate)
      inflate(bytes, to);
    else
      unshuffle(pipeline[i].parameter, bytes, to);
    now = std::move(next);
    bytes = to;
  }
  if (bytes.size() != raw.size()) throw Error("the chunk has another size");
  if (bytes.data() != raw.data()) std::memcpy(raw.data(), bytes.data(), raw.size());
}

}  // namespace headrace::engine

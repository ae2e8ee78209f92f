#include "engine/codec/pipeline.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.hpp"
#include "base/little_endian.hpp"
#include "engine/codec/deflate.hpp"
#include "engine/codec/fletcher32.hpp"
#include "engine/codec/lz4.hpp"
#include "engine/codec/lzf.hpp"
#include "engine/codec/shuffle.hpp"
#include "engine/codec/zstd.hpp"

namespace headrace::engine {
namespace {

using Kind = Filter::Kind;
using Bytes = std::span<const std::byte>;
constexpr std::size_t kChecksum = 4;

struct Codec {
  Buffer (*compress)(const Filter& filter, Bytes from);  // empty when it gains nothing
  // Fills `to` or throws Error.
  void (*decompress)(const Filter& filter, Bytes from, std::span<std::byte> to);
};

template <void function(Bytes, std::span<std::byte>)>
void decompress(const Filter&, Bytes from, std::span<std::byte> to) {
  function(from, to);
}

// In the order of their kinds.
constexpr std::array kCodecs{
    Codec{[](const Filter& filter, Bytes from) { return deflate(filter.parameter, from); },
          &decompress<inflate>},
    Codec{[](const Filter& filter, Bytes from) {
            return zstd_compress(static_cast<int>(filter.parameter), from);
          },
          &decompress<zstd_decompress>},
    Codec{[](const Filter& filter, Bytes from) { return lz4_compress(filter.parameter, from); },
          &decompress<lz4_decompress>},
    Codec{[](const Filter&, Bytes from) { return lzf_compress(from); },
          &decompress<lzf_decompress>},
    Codec{[](const Filter& filter, Bytes from) { return filter.plug_in->encode(from); },
          [](const Filter& filter, Bytes from, std::span<std::byte> to) {
            filter.plug_in->decode(from, to);
          }},
};
static_assert(kCodecs.size() == static_cast<std::size_t>(Kind::shuffle));

const Codec& codec(Kind kind) { return kCodecs.at(static_cast<std::size_t>(kind)); }

std::span<const std::byte> checked(std::span<const std::byte> bytes) {
  if (bytes.size() < kChecksum)
    throw Error("the chunk is too small for its checksum", ErrorKind::corrupt);
  const auto data = bytes.first(bytes.size() - kChecksum);
  if (data.empty() ||
      !fletcher32_matches(little_endian<std::uint32_t>(bytes.data() + data.size()), data))
    throw Error("the chunk's checksum (fletcher32) does not match", ErrorKind::corrupt);
  return data;
}

// `bytes` are those of `now`, or the chunk's own when that is empty.
Buffer with_checksum(Buffer now, Bytes bytes) {
  const std::uint32_t checksum = fletcher32(bytes);
  const std::size_t size = bytes.size();
  if (now.size() > 0) {
    now.resize(size + kChecksum);
  } else {
    now = Buffer(size + kChecksum);
    std::memcpy(now.data(), bytes.data(), size);
  }
  put_little_endian(now.data() + size, checksum);
  return now;
}

bool applied(std::uint32_t mask, std::size_t filter) {
  return filter >= 32 || (mask >> filter & 1U) == 0;
}

}  // namespace

bool compresses(Kind kind) { return static_cast<std::size_t>(kind) < kCodecs.size(); }

bool may_run_behind(const Pipeline& pipeline) {
  return std::ranges::all_of(pipeline, [](const Filter& filter) {
    return filter.plug_in == nullptr || !filter.plug_in->reads_environment();
  });
}

Buffer encode(const Pipeline& pipeline, std::span<const std::byte> raw) {
  Buffer now;
  std::span<const std::byte> bytes = raw;
  for (const Filter& filter : pipeline) {
    Buffer next;
    if (compresses(filter.kind)) {
      next = codec(filter.kind).compress(filter, bytes);
      if (next.size() == 0) return next;
    } else if (filter.kind == Kind::shuffle) {
      next = Buffer(bytes.size());
      shuffle(filter.parameter, bytes, next.bytes());
    } else {
      next = with_checksum(std::move(now), bytes);
    }
    now = std::move(next);
    bytes = now.bytes();
  }
  return now;
}

void decode(const Pipeline& pipeline, std::uint32_t mask, std::span<const std::byte> stored,
            std::span<std::byte> raw) {
  // The size before compression is that of the chunk and of the checksums that come earlier.
  std::size_t plain = raw.size();
  std::size_t first = pipeline.size();  // of those to undo, which writes into `raw`
  for (std::size_t i = pipeline.size(); i-- > 0;)
    if (applied(mask, i) && pipeline[i].kind != Kind::fletcher32) first = i;
  for (std::size_t i = 0; i < pipeline.size() && !compresses(pipeline[i].kind); ++i)
    if (applied(mask, i) && pipeline[i].kind == Kind::fletcher32) plain += kChecksum;

  Buffer now;
  std::span<const std::byte> bytes = stored;
  for (std::size_t i = pipeline.size(); i-- > 0;) {
    if (!applied(mask, i)) continue;
    if (pipeline[i].kind == Kind::fletcher32) {
      bytes = checked(bytes);
      continue;
    }
    const bool compressed = compresses(pipeline[i].kind);
    const std::size_t size = compressed ? plain : bytes.size();
    const bool last = i == first && size == raw.size();
    Buffer next = last ? Buffer() : Buffer(size);
    const std::span<std::byte> to = last ? raw : next.bytes();
    if (compressed)
      codec(pipeline[i].kind).decompress(pipeline[i], bytes, to);
    else
      unshuffle(pipeline[i].parameter, bytes, to);
    now = std::move(next);
    bytes = to;
  }
  if (bytes.size() != raw.size()) throw Error("the chunk has another size", ErrorKind::corrupt);
  if (bytes.data() != raw.data()) std::memcpy(raw.data(), bytes.data(), raw.size());
}

}  // namespace headrace::engine

#include "engine/codec/lzf.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.hpp"

// A stream is runs of literals, 000LLLLL and then L + 1 bytes, and matches of earlier bytes, of
// length L + 2 at distance D + 1: LLLDDDDD DDDDDDDD, or 111DDDDD LLLLLLLL DDDDDDDD with L - 7.
// Debian has no static library for it.
namespace headrace::engine {
namespace {

constexpr std::size_t kRun = 32;
constexpr std::size_t kFarthest = 1U << 13U;
constexpr std::size_t kShortest = 3;
constexpr std::size_t kLongest = 264;
constexpr unsigned kLong = 7;
constexpr unsigned kHashBits = 16;

class Compressor {
 public:
  explicit Compressor(std::span<const std::byte> from)
      : from_(from),
        seen_(std::size_t{1} << kHashBits),
        result_(from.size() + from.size() / kRun + 1),
        to_(result_.data()) {}

  Buffer run() {
    std::size_t at = 0;
    while (at + kShortest <= from_.size()) {
      const std::size_t length = matching(at, last_and_remember(at));
      if (length == 0) {
        ++at;
        continue;
      }
      put_literals(at);
      put_match(length);
      at += length;
      literals_ = at;
      // Of a match's bytes only the last are found again, as by h5py: it makes longer matches.
      if (at + kShortest <= from_.size() + 1) last_and_remember(at - 1);
    }
    put_literals(from_.size());
    const auto size = static_cast<std::size_t>(to_ - result_.data());
    if (size >= from_.size()) return {};
    result_.resize(size);
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::uint32_t three(std::size_t at) const {
    const std::byte* bytes = from_.data() + at;
    return std::to_integer<std::uint32_t>(bytes[0]) << 16U |
           std::to_integer<std::uint32_t>(bytes[1]) << 8U |
           std::to_integer<std::uint32_t>(bytes[2]);
  }

  // One more than where such bytes were last, 0 for nowhere.
  std::uint32_t last_and_remember(std::size_t at) {
    constexpr std::uint32_t kSpread = 2654435761U;
    std::uint32_t& slot = seen_[three(at) * kSpread >> (32 - kHashBits)];
    return std::exchange(slot, static_cast<std::uint32_t>(at + 1));
  }

  // The length of the match with what is at one less than `last`; 0 for none.
  std::size_t matching(std::size_t at, std::uint32_t last) {
    if (last == 0) return 0;
    const std::size_t there = last - 1;
    if (at - there > kFarthest || three(there) != three(at)) return 0;
    distance_ = at - there;
    const std::size_t most = std::min(kLongest, from_.size() - at);
    std::size_t length = kShortest;
    while (length < most && from_[there + length] == from_[at + length]) ++length;
    return length;
  }

  void put(std::size_t byte) { *to_++ = static_cast<std::byte>(byte & 0xffU); }

  void put_literals(std::size_t end) {
    while (literals_ < end) {
      const std::size_t run = std::min(kRun, end - literals_);
      put(run - 1);
      std::memcpy(to_, from_.data() + literals_, run);
      to_ += run;
      literals_ += run;
    }
  }

  void put_match(std::size_t length) {
    const std::size_t code = length - 2;
    const std::size_t back = distance_ - 1;
    put(std::min<std::size_t>(code, kLong) << 5U | back >> 8U);
    if (code >= kLong) put(code - kLong);
    put(back);
  }

  std::span<const std::byte> from_;
  std::vector<std::uint32_t> seen_;
  Buffer result_;
  std::byte* to_;
  std::size_t literals_ = 0;  // where those that are not yet stored begin
  std::size_t distance_ = 0;
};

// Takes bytes off the front.
std::span<const std::byte> take(std::span<const std::byte>& from, std::size_t count) {
  if (from.size() < count) throw Error("the compressed data is damaged (lzf)", ErrorKind::corrupt);
  const auto taken = from.first(count);
  from = from.subspan(count);
  return taken;
}

std::size_t take_one(std::span<const std::byte>& from) {
  return std::to_integer<std::size_t>(take(from, 1)[0]);
}

}  // namespace

Buffer lzf_compress(std::span<const std::byte> from) { return Compressor(from).run(); }

void lzf_decompress(std::span<const std::byte> from, std::span<std::byte> to) {
  std::size_t at = 0;
  const auto require_room = [&](std::size_t count) {
    if (count > to.size() - at)
      throw Error("the compressed data has another size", ErrorKind::corrupt);
  };
  while (!from.empty()) {
    const std::size_t control = take_one(from);
    std::size_t length = control >> 5U;
    if (length == 0) {
      const auto literals = take(from, control + 1);
      require_room(literals.size());
      std::memcpy(to.data() + at, literals.data(), literals.size());
      at += literals.size();
      continue;
    }
    if (length == kLong) length += take_one(from);
    length += 2;
    const std::size_t distance = ((control & 0x1fU) << 8U | take_one(from)) + 1;
    require_room(length);
    if (distance > at) throw Error("the compressed data is damaged (lzf)", ErrorKind::corrupt);
    // They may overlap: what has just been written is read again.
    for (const std::size_t end = at + length; at < end; ++at) to[at] = to[at - distance];
  }
  if (at != to.size()) throw Error("the compressed data has another size", ErrorKind::corrupt);
}

}  // namespace headrace::engine

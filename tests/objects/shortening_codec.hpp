// A codec of tests, by which chunks get shorter: it leaves out the sevens at the end. Those without
// any are stored as they are.
#pragma once

#include <algorithm>

#include "base/error.hpp"
#include "objects/pending_chunks.hpp"

namespace headrace::objects {

class ShorteningCodec final : public Codec {
 public:
  static constexpr std::byte kSeven{7};

  engine::Buffer encode(std::span<const std::byte> chunk, std::uint32_t& left_out) const override {
    std::size_t size = chunk.size();
    while (size > 1 && chunk[size - 1] == kSeven) --size;
    if (size == chunk.size()) {
      left_out = 1;
      return {};
    }
    engine::Buffer shorter(size);
    std::ranges::copy(chunk.first(size), shorter.data());
    return shorter;
  }
  void decode(std::uint32_t left_out, store::Bytes stored,
              std::span<std::byte> chunk) const override {
    if (left_out != 0 ? stored.size() != chunk.size() : stored.size() >= chunk.size())
      throw Error("of another size", ErrorKind::corrupt);
    std::ranges::fill(chunk, kSeven);
    std::ranges::copy(stored, chunk.begin());
  }
};

}  // namespace headrace::objects

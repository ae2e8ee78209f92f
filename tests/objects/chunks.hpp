// Chunks of a small dataset, for their tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <vector>

#include "base/error.hpp"
#include "engine/threads/thread_pool.hpp"
#include "objects/hindered_store.hpp"
#include "objects/keys.hpp"
#include "objects/pending_chunks.hpp"
#include "store/memory/memory_store.hpp"

namespace headrace::objects {

using Number = std::uint32_t;
constexpr std::size_t kElements = 50;
constexpr std::size_t kBytes = kElements * sizeof(Number);
constexpr Number kFill = 77;

// Turns the bits of chunks round, but of those whose first element is odd.
class Turning final : public Codec {
 public:
  engine::Buffer encode(std::span<const std::byte> chunk, std::uint32_t& left_out) const override {
    if ((std::to_integer<unsigned>(chunk[0]) & 1U) != 0) {
      left_out = 1;
      return {};
    }
    engine::Buffer turned(chunk.size());
    std::ranges::transform(chunk, turned.data(), [](std::byte byte) { return ~byte; });
    return turned;
  }
  void decode(std::uint32_t left_out, store::Bytes stored,
              std::span<std::byte> chunk) const override {
    if (stored.size() != chunk.size()) throw Error("of another size", ErrorKind::corrupt);
    std::ranges::transform(stored, chunk.begin(),
                           [&](std::byte byte) { return left_out == 0 ? ~byte : byte; });
  }
};

class Chunks : public testing::Test {
 protected:
  Chunks() : threads_(2) {
    of_.prefix = "c/d/";
    of_.rank = 2;
    of_.chunk = {5, 10};
    of_.element = sizeof(Number);
    of_.chunk_bytes = kBytes;
    of_.fill.resize(sizeof kFill);
    std::ranges::copy(std::as_bytes(std::span(&kFill, 1)), of_.fill.begin());
  }
  [[nodiscard]] std::unique_ptr<PendingChunks> open(store::Store& store) const {
    return std::make_unique<PendingChunks>(store, codec_, of_);
  }

  engine::WantedThreads threads_;
  store::MemoryStore store_;
  Turning codec_;
  ChunksOf of_;
};

using store::bytes_of;
using Values = std::array<Number, kElements>;

inline Values all_of(Number number) {
  Values values;
  values.fill(number);
  return values;
}

inline Values read(const PendingChunks& chunks, std::uint64_t row, std::uint64_t column) {
  Values values{};
  chunks.read({row, column}, std::as_writable_bytes(std::span(values)));
  return values;
}

inline void write(PendingChunks& chunks, std::uint64_t row, std::uint64_t column,
                  const Values& values) {
  engine::Buffer chunk(kBytes);
  std::ranges::copy(std::as_bytes(std::span(values)), chunk.data());
  chunks.write({row, column}, std::move(chunk));
}

inline void write_part(PendingChunks& chunks, std::uint64_t row, std::uint64_t column,
                       std::size_t first, std::size_t count, Number number) {
  const auto put = [&](std::byte* chunk, std::byte* written) {
    for (std::size_t i = first; i < first + count; ++i) {
      std::ranges::copy(std::as_bytes(std::span(&number, 1)), chunk + i * sizeof number);
      if (written != nullptr) written[i] = std::byte{1};
    }
  };
  chunks.write_part({row, column}, put, {first, first + count, count});
}

}  // namespace headrace::objects

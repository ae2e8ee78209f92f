#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <vector>

#include "base/error.hpp"
#include "engine/threads/thread_pool.hpp"
#include "objects/hindered_store.hpp"
#include "objects/pending_chunks.hpp"
#include "store/memory/memory_store.hpp"

namespace headrace::objects {
namespace {

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

using Values = std::array<Number, kElements>;

Values all_of(Number number) {
  Values values;
  values.fill(number);
  return values;
}

Values read(const PendingChunks& chunks, std::uint64_t row, std::uint64_t column) {
  Values values{};
  chunks.read({row, column}, std::as_writable_bytes(std::span(values)));
  return values;
}

void write(PendingChunks& chunks, std::uint64_t row, std::uint64_t column, const Values& values) {
  engine::Buffer chunk(kBytes);
  std::ranges::copy(std::as_bytes(std::span(values)), chunk.data());
  chunks.write({row, column}, std::move(chunk));
}

void write_part(PendingChunks& chunks, std::uint64_t row, std::uint64_t column, std::size_t first,
                std::size_t count, Number number) {
  chunks.write_part({row, column}, [&](std::byte* chunk, std::byte* written) {
    for (std::size_t i = first; i < first + count; ++i) {
      std::ranges::copy(std::as_bytes(std::span(&number, 1)), chunk + i * sizeof number);
      if (written != nullptr) written[i] = std::byte{1};
    }
  });
}

TEST_F(Chunks, are_filled_where_nothing_was_written) {
  const auto chunks = open(store_);
  EXPECT_EQ(read(*chunks, 3, 4), all_of(kFill));
  chunks->flush();
  EXPECT_TRUE(store_.list("", 1).empty());
}

TEST_F(Chunks, are_what_was_written_before_a_flush_and_when_opened_again) {
  auto chunks = open(store_);
  write(*chunks, 0, 1, all_of(6));
  write(*chunks, 1, 0, all_of(7));
  write_part(*chunks, 2, 2, 10, 5, 8);
  Values part = all_of(kFill);
  std::fill_n(part.begin() + 10, 5, 8);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(read(*chunks, 0, 1), all_of(6));
    EXPECT_EQ(read(*chunks, 1, 0), all_of(7));
    EXPECT_EQ(read(*chunks, 2, 2), part);
    EXPECT_EQ(read(*chunks, 0, 0), all_of(kFill));
    chunks->flush();
    EXPECT_EQ(chunks->size(), 0U);
    if (i == 1) chunks = open(store_);
  }
  EXPECT_EQ(store_.list("", 10).size(), 3U);
}

TEST_F(Chunks, that_two_write_in_part_have_what_both_have_written) {
  const auto first = open(store_);
  const auto second = open(store_);
  for (Number turn = 1; turn < 4; ++turn) {
    write_part(*first, 0, 0, 0, 20, turn);
    write_part(*second, 0, 0, 20, 30, 100 + turn);
    first->flush();
    second->flush();
    Values both = all_of(100 + turn);
    std::fill_n(both.begin(), 20, turn);
    EXPECT_EQ(read(*first, 0, 0), both);
    EXPECT_EQ(read(*second, 0, 0), both);
  }
}

TEST_F(Chunks, that_another_stores_between_a_look_and_a_put_have_what_both_have_written) {
  store::HinderedStore hindered(store_);
  const auto chunks = open(hindered);
  const auto another = open(store_);
  for (const std::uint64_t row : {0U, 1U}) {
    if (row == 1) write(*another, row, 0, all_of(3));
    another->flush();
    write_part(*chunks, row, 0, 0, 10, 1);
    write_part(*another, row, 0, 5, 20, 2);
    hindered.meanwhile = [&] { another->flush(); };
    chunks->flush();
    Values both = all_of(row == 1 ? 3 : kFill);
    std::fill_n(both.begin() + 5, 20, 2);
    std::fill_n(both.begin(), 10, 1);
    EXPECT_EQ(read(*open(store_), row, 0), both);
  }
}

TEST_F(Chunks, that_are_written_part_by_part_are_not_read_first) {
  const auto chunks = open(store_);
  store_.put(
      std::vector{store::Change{"c/d/" + std::string(16, '\0'), store::bytes_of("damaged")}});
  EXPECT_THROW(read(*chunks, 0, 0), Error);
  write_part(*chunks, 0, 0, 0, 30, 1);
  EXPECT_THROW(chunks->flush(), Error);
  write_part(*chunks, 0, 0, 30, 20, 1);
  chunks->flush();
  EXPECT_EQ(read(*chunks, 0, 0), all_of(1));
  EXPECT_EQ(chunks->size(), 0U);
}

TEST_F(Chunks, that_cannot_be_stored_are_stored_by_the_next_flush) {
  store::HinderedStore failing(store_);
  const auto chunks = open(failing);
  for (unsigned i = 0; i < 30; ++i) write(*chunks, i, i, all_of(i));
  failing.left = 10;
  EXPECT_THROW(chunks->flush(), Error);
  EXPECT_GT(chunks->size(), 0U);
  for (unsigned i = 0; i < 30; ++i) EXPECT_EQ(read(*chunks, i, i), all_of(i));
  failing.left = ~0U;
  chunks->flush();
  EXPECT_EQ(chunks->size(), 0U);
  for (unsigned i = 0; i < 30; ++i) EXPECT_EQ(read(*open(store_), i, i), all_of(i));
}

TEST_F(Chunks, after_random_writes_of_two_are_what_a_map_has) {
  std::mt19937 random(4);
  std::array writers{open(store_), open(store_)};
  std::map<std::uint64_t, Values> expected;
  for (unsigned i = 0; i < 5000; ++i) {
    const std::uint64_t row = random() % 8;
    const std::size_t which = random() % 2;
    PendingChunks& chunks = *writers.at(which);
    // Each has half of the elements, or all of the chunks of its own rows.
    const bool is_own = row % 4 == which;
    Values& values = expected.try_emplace(row, all_of(kFill)).first->second;
    if (is_own && random() % 3 == 0) {
      write(chunks, row, row, all_of(i));
      values = all_of(i);
    } else if (is_own || row % 4 > 1) {
      const std::size_t begin = is_own ? 0 : which * (kElements / 2);
      const std::size_t end = is_own ? kElements : begin + kElements / 2;
      const std::size_t first = begin + random() % (end - begin);
      const std::size_t count = 1 + random() % (end - first);
      write_part(chunks, row, row, first, count, i);
      std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(first), count, i);
    }
    if (is_own) {
      ASSERT_EQ(read(chunks, row, row), values);
    }
    if (random() % 10 == 0) chunks.flush();
  }
  for (const auto& writer : writers) writer->flush();
  for (const auto& [row, values] : expected)
    EXPECT_EQ(read(*open(store_), row, row), values) << row;
}

}  // namespace
}  // namespace headrace::objects

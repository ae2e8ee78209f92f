// The codecs against zlib and against straightforward ones.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <latch>
#include <random>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "engine/codec/deflate.hpp"
#include "engine/codec/fletcher32.hpp"
#include "engine/codec/lz4.hpp"
#include "engine/codec/lzf.hpp"
#include "engine/codec/pipeline.hpp"
#include "engine/codec/shuffle.hpp"
#include "engine/codec/zstd.hpp"

namespace headrace::engine {
namespace {

using Bytes = std::vector<std::byte>;
using Kind = Filter::Kind;

// Smooth with noise, so that it compresses a little.
Bytes field(std::size_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = std::byte((i / 50 + random() % 4) & 0xffU);
  return bytes;
}

Bytes copy(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

TEST(Deflate, zlib_reads_what_it_writes_and_it_reads_what_zlib_writes) {
  for (unsigned level = 0; level <= 9; ++level)
    for (std::size_t size : {1, 2, 1000, 70000}) {
      const Bytes raw = field(size);
      const Buffer ours = deflate(level, raw);
      Bytes back(size);
      uLongf length = size;
      ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(back.data()), &length,
                           reinterpret_cast<const Bytef*>(ours.data()), ours.size()),
                Z_OK);
      ASSERT_EQ(length, size);
      ASSERT_EQ(back, raw);

      Bytes theirs(compressBound(size));
      length = theirs.size();
      compress2(reinterpret_cast<Bytef*>(theirs.data()), &length,
                reinterpret_cast<const Bytef*>(raw.data()), size, static_cast<int>(level));
      theirs.resize(length);
      Bytes again(size);
      inflate(theirs, again);
      ASSERT_EQ(again, raw);
      EXPECT_LE(static_cast<double>(ours.size()), 1.02 * static_cast<double>(length) + 16)
          << "level " << level << " size " << size;
    }
}

TEST(Deflate, refuses_what_is_damaged_cut_or_of_another_size) {
  const Bytes raw = field(5000);
  const Buffer good = deflate(4, raw);
  Bytes to(raw.size());
  for (std::size_t i = 0; i < good.size(); i += 7) {
    Bytes bad = copy(good.bytes());
    bad[i] ^= std::byte{0x55};
    EXPECT_THROW(inflate(bad, to), Error) << i;
  }
  EXPECT_THROW(inflate(good.bytes().first(good.size() / 2), to), Error);
  EXPECT_THROW(inflate({}, to), Error);
  Bytes small(raw.size() - 1);
  EXPECT_THROW(inflate(good.bytes(), small), Error);
  Bytes large(raw.size() + 1);
  EXPECT_THROW(inflate(good.bytes(), large), Error);
}

TEST(Shuffle, is_a_transposition_that_leaves_the_rest) {
  for (std::size_t element : {1, 2, 3, 4, 5, 8, 16, 100})
    for (std::size_t size : {0, 1, 7, 64, 4097, 20000}) {
      const Bytes raw = field(size);
      Bytes expected = raw;
      const std::size_t count = size / element;
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t b = 0; b < element; ++b) expected[b * count + i] = raw[i * element + b];
      Bytes shuffled(size);
      shuffle(element, raw, shuffled);
      ASSERT_EQ(shuffled, expected) << element << ' ' << size;
      Bytes back(size);
      unshuffle(element, shuffled, back);
      ASSERT_EQ(back, raw) << element << ' ' << size;
    }
}

Bytes bytes_of(std::initializer_list<unsigned> values) {
  Bytes bytes;
  for (const unsigned value : values) bytes.push_back(std::byte(value));
  return bytes;
}

TEST(Lz4, reads_the_filters_format_and_believes_no_size_in_it) {
  // Five bytes in blocks of three; both are stored as they are.
  const Bytes good = bytes_of(
      {0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 3, 'a', 'b', 'c', 0, 0, 0, 2, 'd', 'e'});
  Bytes to(5);
  lz4_decompress(good, to);
  EXPECT_EQ(to, bytes_of({'a', 'b', 'c', 'd', 'e'}));
  for (std::size_t place : {0, 4, 7, 8, 11, 12, 15, 19, 22})
    for (unsigned value : {0, 1, 127, 255}) {
      Bytes bad = good;
      if (bad[place] == std::byte(value)) continue;
      bad[place] = std::byte(value);
      EXPECT_THROW(lz4_decompress(bad, to), Error) << place << ' ' << value;
    }
}

TEST(Lzf, reads_literals_and_matches_and_nothing_outside_of_them) {
  // "ab", the same from two bytes back for 3 bytes, and for 9 bytes from one byte back.
  const Bytes good = bytes_of({1, 'a', 'b', 1U << 5U, 1, 7U << 5U, 0, 0});
  Bytes to(14);
  lzf_decompress(good, to);
  EXPECT_EQ(to, bytes_of({'a', 'b', 'a', 'b', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a'}));
  EXPECT_THROW(lzf_decompress(bytes_of({1, 'a', 'b', 1U << 5U, 2}), to), Error);
  EXPECT_THROW(lzf_decompress(bytes_of({31, 'a'}), to), Error);
  EXPECT_THROW(lzf_decompress(bytes_of({0, 'a', 7U << 5U, 255, 0}), to), Error);
  EXPECT_THROW(lzf_decompress(bytes_of({0, 'a', 7U << 5U}), to), Error);
}

std::latch& both_copies() {
  static std::latch meeting(2);
  return meeting;
}

// A filter that keeps state, as plug-ins do: it counts those inside of it. Its first call in each
// of two copies waits for that in the other one, so two threads do need them.
template <int copy>
std::size_t halve(unsigned flags, std::size_t count, const unsigned values[], std::size_t bytes,
                  std::size_t* room, void** memory) {
  static std::atomic<int> inside = 0;
  EXPECT_EQ(++inside, 1) << "one thread at a time";
  EXPECT_EQ(count, 1);
  [[maybe_unused]] static const bool met = (both_copies().arrive_and_wait(), true);
  std::this_thread::yield();
  --inside;
  if (values[0] == 0) return 0;
  auto* const at = static_cast<std::byte*>(*memory);
  const bool back = (flags & 0x100U) != 0;
  *room = back ? bytes * 2 : bytes / 2;
  auto* const to = static_cast<std::byte*>(std::malloc(*room));
  for (std::size_t i = 0; i < *room; ++i) to[i] = back ? at[i / 2] : at[i * 2];
  std::free(at);
  *memory = to;
  return *room;
}

TEST(PlugIn, lends_each_copy_to_one_thread) {
  std::vector<FilterFunction> all{&halve<0>, &halve<1>};
  const auto load = [&all]() -> FilterFunction {
    if (all.empty()) return nullptr;
    const FilterFunction copy = all.back();
    all.pop_back();
    return copy;
  };
  PlugInCopies copies(load, 5);
  const PlugInFilter filter(copies, std::array{1U}, false);
  Bytes raw(1000);
  for (std::size_t i = 0; i < raw.size(); ++i) raw[i] = std::byte(i / 2 & 0xffU);
  const auto round_trips = [&] {
    for (int i = 0; i < 100; ++i) {
      const Buffer stored = filter.encode(raw);
      EXPECT_EQ(stored.size(), raw.size() / 2);
      Bytes back(raw.size());
      filter.decode(stored.bytes(), back);
      EXPECT_EQ(back, raw);
      EXPECT_THROW(filter.decode(stored.bytes().first(9), back), Error);
    }
  };
  {
    std::array<std::jthread, 4> threads;
    for (auto& one : threads) one = std::jthread(round_trips);
  }
  EXPECT_TRUE(all.empty());
  const PlugInFilter failing(copies, std::array{0U}, false);
  EXPECT_EQ(failing.encode(raw).size(), 0);
  EXPECT_THROW(failing.decode(raw, raw), Error);
  EXPECT_THROW(PlugInCopies(load, 5), Error);
}

// Sums in 64 bits, reduced once at the end, cannot overflow at these sizes.
std::uint32_t plain_fletcher32(const Bytes& bytes) {
  std::uint64_t sum = 0;
  std::uint64_t sums = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    const auto low = i + 1 < bytes.size() ? std::to_integer<unsigned>(bytes[i + 1]) : 0U;
    sum = (sum + (std::to_integer<unsigned>(bytes[i]) << 8U) + low) % 65535;
    sums = (sums + sum) % 65535;
  }
  return static_cast<std::uint32_t>(sums << 16U | sum);
}

// 0 and 65535 are the same to the checksum's arithmetic; HDF5 stores either.
std::uint32_t reduced(std::uint32_t sum) {
  return (sum >> 16U) % 65535 << 16U | (sum & 0xffffU) % 65535;
}

TEST(Fletcher32, is_fletchers_sum_of_big_endian_words) {
  const char* text = "abcd";  // 0x6162 + 0x6364 = 0xc4c6; 0x6162 + 0xc4c6 = 0x12628, folded 0x2629
  EXPECT_EQ(fletcher32(std::as_bytes(std::span(text, 4))), 0x2629c4c6U);
  for (std::size_t size : {1, 2, 3, 719, 720, 721, 722, 99999}) {
    const Bytes bytes = field(size);
    EXPECT_EQ(reduced(fletcher32(bytes)), plain_fletcher32(bytes)) << size;
  }
}

TEST(Fletcher32, accepts_the_swapped_sums_of_old_hdf5) {
  const Bytes bytes = field(100);
  const std::uint32_t sum = fletcher32(bytes);
  const std::uint32_t old = (sum & 0xff00ff00U) >> 8U | (sum & 0x00ff00ffU) << 8U;
  EXPECT_TRUE(fletcher32_matches(sum, bytes));
  EXPECT_TRUE(fletcher32_matches(old, bytes));
  EXPECT_FALSE(fletcher32_matches(sum + 1, bytes));
}

const std::vector<Pipeline>& pipelines() {
  static const std::vector<Pipeline> all{
      {{Kind::deflate, 4}},
      {{Kind::shuffle, 4}},
      {{Kind::fletcher32}},
      {{Kind::shuffle, 4}, {Kind::deflate, 1}},
      {{Kind::shuffle, 8}, {Kind::deflate, 9}, {Kind::fletcher32}},
      {{Kind::fletcher32}, {Kind::deflate, 4}},
      {{Kind::fletcher32}, {Kind::shuffle, 3}, {Kind::deflate, 4}, {Kind::fletcher32}},
      {{Kind::deflate, 4}, {Kind::shuffle, 2}},
      {{Kind::fletcher32}, {Kind::fletcher32}},
      {{Kind::zstd, 3}},
      {{Kind::shuffle, 4}, {Kind::zstd, -5U}, {Kind::fletcher32}},
      {{Kind::lz4}},
      {{Kind::lz4, 100}, {Kind::fletcher32}},
      {{Kind::lzf}},
      {{Kind::shuffle, 8}, {Kind::lzf}, {Kind::fletcher32}},
  };
  return all;
}

// Of each codec, as the only filter.
std::vector<Pipeline> codecs() {
  std::vector<Pipeline> all;
  for (const Pipeline& pipeline : pipelines())
    for (const Filter& filter : pipeline)
      if (compresses(filter.kind)) all.push_back({filter});
  return all;
}

// Whether a filter gained nothing, as only some may say.
bool left_out(const Pipeline& pipeline, const Buffer& stored) {
  if (stored.size() > 0) return false;
  EXPECT_TRUE(std::ranges::any_of(pipeline, [](auto& one) { return one.kind == Kind::lzf; }));
  return true;
}

TEST(Pipeline, decodes_what_it_encodes) {
  for (const Pipeline& pipeline : pipelines())
    for (std::size_t size : {1, 40, 4096, 30001}) {
      const Bytes raw = field(size);
      const Buffer stored = encode(pipeline, raw);
      if (left_out(pipeline, stored)) continue;
      Bytes back(size);
      decode(pipeline, 0, stored.bytes(), back);
      ASSERT_EQ(back, raw);
    }
}

// Whether the data compress well, hardly, not at all: each codec has a size at which it begins to
// store what it was given.
TEST(Pipeline, decodes_data_of_every_entropy) {
  std::mt19937 random(5);
  for (const Pipeline& pipeline : codecs())
    for (unsigned values = 1; values <= 256; values += values < 8 ? 1 : 31)
      for (std::size_t size : {1, 2, 3, 15, 127, 128, 129, 511, 1024, 5000, 70001}) {
        Bytes raw(size);
        for (auto& byte : raw) byte = std::byte(random() % values);
        const Buffer stored = encode(pipeline, raw);
        if (left_out(pipeline, stored)) continue;
        EXPECT_LE(stored.size(), size + size / 32 + size / 100 * 5 + 64);
        Bytes back(size);
        decode(pipeline, 0, stored.bytes(), back);
        ASSERT_EQ(back, raw) << static_cast<int>(pipeline[0].kind) << ' ' << values << ' ' << size;
      }
}

TEST(Pipeline, refuses_compressed_data_of_another_size) {
  for (const Pipeline& pipeline : codecs()) {
    const Buffer stored = encode(pipeline, field(5000));
    for (std::size_t size : {1, 4999, 5001, 70000}) {
      Bytes to(size);
      EXPECT_THROW(decode(pipeline, 0, stored.bytes(), to), Error);
    }
    Bytes to(5000);
    EXPECT_THROW(decode(pipeline, 0, stored.bytes().first(stored.size() - 1), to), Error);
    EXPECT_THROW(decode(pipeline, 0, {}, to), Error);
  }
}

TEST(Pipeline, leaves_out_the_filters_of_the_mask) {
  for (const Pipeline& pipeline : pipelines())
    for (std::uint32_t mask = 0; mask < 1U << pipeline.size(); ++mask) {
      Pipeline applied;
      for (std::size_t i = 0; i < pipeline.size(); ++i)
        if ((mask >> i & 1U) == 0) applied.push_back(pipeline[i]);
      const Bytes raw = field(4000);
      const Bytes stored = applied.empty() ? raw : copy(encode(applied, raw).bytes());
      Bytes back(raw.size());
      decode(pipeline, mask, stored, back);
      ASSERT_EQ(back, raw);
    }
}

// Whatever the bytes are, there is an error or a chunk of the right size: no crash under asan.
TEST(Pipeline, survives_damage) {
  std::mt19937 random(3);
  for (const Pipeline& pipeline : pipelines())
    for (int round = 0; round < 200; ++round) {
      const Bytes raw = field(600);
      Bytes stored = copy(encode(pipeline, raw).bytes());
      stored[random() % stored.size()] ^= std::byte(1 + random() % 255);
      if (round % 2 == 0) stored.resize(random() % (stored.size() + 1));
      Bytes back(raw.size());
      const bool sums = pipeline.back().kind == Kind::fletcher32;
      try {
        decode(pipeline, 0, stored, back);
        EXPECT_FALSE(sums) << "the checksum did not notice";
      } catch (const Error&) {  // what the damage deserves
      }
    }
}

}  // namespace
}  // namespace headrace::engine

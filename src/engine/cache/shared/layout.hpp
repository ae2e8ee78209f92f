// The file of shared chunks: what stands where in it.
//
//   header        what the file is
//   owners        an epoch for each slot of a process, see owners.hpp
//   slabs         of each size class, which slabs it has
//   ways          of each slab, what is in each of its places for a chunk
//   data          the slabs
//
// Ways have memory in slabs that a class has had, places once a chunk was put there. Whoever
// changes anything here gives the file another name (kFile).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "engine/cache/key.hpp"

namespace headrace::engine::cache {

inline constexpr const char* kFile = "chunks-2";
inline constexpr std::uint64_t kFileMagic = 0x31736b6e75686368;  // "hchunks1"

inline constexpr std::size_t kPage = 4096;
inline constexpr std::size_t kOwners = 1024;
inline constexpr std::size_t kMostSlabs = 4096;
inline constexpr std::size_t kLeastSlab = std::size_t{1} << 20U;  // bytes
inline constexpr std::size_t kLargestSlab = std::size_t{64} << 20U;
inline constexpr std::size_t kLargestOnDisk = std::size_t{1} << 30U;

// Chunks of up to so many bytes: 4 KiB, 6 KiB, 8 KiB, 12 KiB, … 64 MiB.
inline constexpr std::size_t kClasses = 29;
constexpr std::size_t bytes_of_class(std::size_t index) {
  const std::size_t power = kPage << (index / 2);
  return index % 2 == 0 ? power : power + power / 2;
}
// kClasses where a chunk is larger than all.
constexpr std::size_t class_of(std::size_t bytes) {
  for (std::size_t index = 0; index < kClasses; ++index)
    if (bytes <= bytes_of_class(index)) return index;
  return kClasses;
}
static_assert(bytes_of_class(kClasses - 1) == kLargestSlab);

// Who has a way, and how often it has changed: a claimed one is odd, and says who fills it.
struct WayState {
  std::uint64_t word = 0;

  static WayState claimed(std::uint64_t sequence, std::uint16_t owner, std::uint16_t epoch) {
    return {sequence << 33U | std::uint64_t{epoch} << 17U | std::uint64_t{owner} << 1U | 1U};
  }
  static WayState settled(std::uint64_t sequence) { return {sequence << 33U}; }
  [[nodiscard]] bool is_claimed() const { return (word & 1U) != 0; }
  [[nodiscard]] std::uint16_t owner() const { return static_cast<std::uint16_t>(word >> 1U); }
  [[nodiscard]] std::uint16_t epoch() const { return static_cast<std::uint16_t>(word >> 17U); }
  [[nodiscard]] std::uint64_t sequence() const { return word >> 33U; }
};

// A place for one chunk. Words are read while others may change them: what was read counts if the
// state is settled and the same before and after.
struct alignas(128) Way {
  static constexpr std::size_t kKeyWords = 7;
  std::atomic<std::uint64_t> state;
  std::atomic<std::uint64_t> tag;     // a hash of the key; of a claimed way, of the chunk to come
  std::atomic<std::uint64_t> length;  // bytes of the chunk; 0 where there is none
  std::atomic<std::uint32_t> used;    // how many rounds of eviction it survives
  std::uint32_t unused;
  std::array<std::atomic<std::uint64_t>, kKeyWords> key;
};
static_assert(sizeof(Way) == 128);

inline std::array<std::uint64_t, Way::kKeyWords> words_of(const Key& key) {
  const DatasetKey& of = key.dataset;
  return {of.file.device, of.file.inode, of.file.generation, of.token.high,
          of.token.low,   of.version,    key.chunk};
}

// What a way is found by; 0 is the tag of nothing.
inline std::uint64_t hash_of(const Key& key) {
  std::uint64_t hash = 0;
  for (const std::uint64_t word : words_of(key)) hash = mixed(hash, word);
  return hash | 1U;
}

// Ways of a set: a chunk is in one of them.
inline constexpr std::size_t kSet = 8;

struct Header {
  std::uint64_t magic;
  std::uint64_t slab_bytes;
  std::uint64_t slabs;
  std::atomic<std::uint64_t> left;  // when a process has last left, in nanoseconds since 1970
};

struct alignas(kPage) Fixed {
  Header header;
  std::array<std::atomic<std::uint32_t>, kOwners> epochs;
  std::array<std::atomic<std::uint32_t>, kClasses> counts;  // slabs that a class has
  std::array<std::array<std::atomic<std::uint16_t>, kMostSlabs>, kClasses> slabs;
  std::array<std::atomic<std::uint32_t>, kMostSlabs> reached;  // ways of a slab that have memory
};

// Where the parts of a file lie, in bytes.
struct Layout {
  std::size_t slab_bytes;
  std::size_t slabs;

  // So that they take at most so many bytes.
  static Layout for_memory(std::size_t bytes) {
    const std::size_t slab = std::clamp(std::bit_floor(bytes / 64), kLeastSlab, kLargestSlab);
    return {slab, slabs_in(bytes, slab)};
  }
  // The same of a disk: a slab has room for all that differs in size, and more slabs are no use.
  static Layout for_disk(std::uint64_t bytes) {
    const std::size_t slab =
        std::clamp<std::size_t>(std::bit_floor(bytes / 256), kLeastSlab, kLargestOnDisk);
    return {slab, slabs_in(bytes, slab)};
  }
  // With their ways of the smallest class, behind what is fixed.
  static std::size_t slabs_in(std::uint64_t bytes, std::size_t slab) {
    const std::uint64_t room = bytes - std::min<std::uint64_t>(bytes, sizeof(Fixed));
    return std::min<std::size_t>(room / (slab + slab / 32), kMostSlabs);
  }
  [[nodiscard]] bool is_sound(std::size_t largest) const {
    return std::has_single_bit(slab_bytes) && slab_bytes >= kLeastSlab && slab_bytes <= largest &&
           slabs > 0 && slabs <= kMostSlabs;
  }
  // Room for ways of the smallest class.
  [[nodiscard]] std::size_t ways_bytes() const { return slab_bytes / kPage * sizeof(Way); }
  [[nodiscard]] std::size_t ways_of(std::size_t slab) const {
    return sizeof(Fixed) + slab * ways_bytes();
  }
  [[nodiscard]] std::size_t data_of(std::size_t slab) const {
    return ways_of(slabs) + slab * slab_bytes;
  }
  [[nodiscard]] std::size_t bytes() const { return data_of(slabs); }
  // Places for chunks of a class in a slab.
  [[nodiscard]] std::size_t places(std::size_t of_class) const {
    return slab_bytes / bytes_of_class(of_class);
  }
};

}  // namespace headrace::engine::cache

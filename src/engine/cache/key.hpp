// What decoded chunks are found by: values, which another process can make as well.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "engine/io/file_identity.hpp"

namespace headrace::engine::cache {

// A dataset's, as HDF5 tells it. Tokens of native files are addresses, least byte first, and are in
// the order of these.
struct Token {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const Token&) const = default;

  static Token of(std::span<const unsigned char, 16> bytes) {
    Token token;
    std::memcpy(&token.low, bytes.data(), sizeof token.low);
    std::memcpy(&token.high, bytes.data() + sizeof token.low, sizeof token.high);
    return token;
  }
};

// A dataset in one state. Who changes what its stored chunks hold, and does not forget those that
// are cached, gives it another version.
struct DatasetKey {
  io::FileIdentity file;
  Token token;
  std::uint64_t version = 0;
  auto operator<=>(const DatasetKey&) const = default;
};

// Set in a key's `chunk`: no chunk is there, but that one was used.
inline constexpr std::uint64_t kNoChunk = std::uint64_t{1} << 63U;

struct Key {
  DatasetKey dataset;
  // Its place among the dataset's chunks, row-major: another one in another extent, unless only the
  // slowest dimension has changed.
  std::uint64_t chunk = 0;
  auto operator<=>(const Key&) const = default;
};

// A word into a hash: of any two that differ the results do, all over (splitmix64, Steele et al.).
inline std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
  hash = (hash ^ (hash >> 30U)) * 0xbf58476d1ce4e5b9U;
  hash = (hash ^ (hash >> 27U)) * 0x94d049bb133111ebU;
  return hash ^ (hash >> 31U);
}

struct Hash {
  std::size_t operator()(const DatasetKey& key) const {
    // What of it differs among the datasets of a process.
    return mixed(mixed(mixed(0, key.file.inode), key.token.low), key.version);
  }
  std::size_t operator()(const Key& key) const { return mixed((*this)(key.dataset), key.chunk); }
};

}  // namespace headrace::engine::cache

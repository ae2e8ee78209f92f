#include "engine/codec/filters.hpp"

#include "engine/codec/zstd.hpp"

namespace headrace::engine {
namespace {

std::optional<Filter> zstd_of(std::span<const unsigned> given) {
  constexpr int kDefaultLevel = 3;
  if (given.size() > 1) return std::nullopt;
  const int level = given.empty() ? kDefaultLevel : static_cast<int>(given[0]);
  if (level < engine::lowest_zstd_level() || level > engine::highest_zstd_level())
    return std::nullopt;
  return Filter{Filter::Kind::zstd, static_cast<unsigned>(level)};
}

// The filter's revision, liblzf's version, bytes of a chunk.
std::optional<Filter> lzf_of(std::span<const unsigned> given) {
  constexpr unsigned kLastRevision = 4;
  constexpr unsigned kVersion = 0x0105;
  if (given.size() != 3 || given[0] > kLastRevision || given[1] != kVersion) return std::nullopt;
  return Filter{Filter::Kind::lzf};
}

}  // namespace

std::optional<Filter> filter_of(int number, std::span<const unsigned> given) {
  switch (number) {
    case filter_number::fletcher32:
      return Filter{Filter::Kind::fletcher32};
    case filter_number::shuffle:
      if (given.size() != 1 || given[0] == 0) return std::nullopt;
      return Filter{Filter::Kind::shuffle, given[0]};
    case filter_number::deflate:
      if (given.size() != 1 || given[0] > 9) return std::nullopt;
      return Filter{Filter::Kind::deflate, given[0]};
    case filter_number::zstd:
      return zstd_of(given);
    case filter_number::lzf:
      return lzf_of(given);
    case filter_number::lz4:
      if (given.size() > 1) return std::nullopt;
      return Filter{Filter::Kind::lz4, given.empty() ? 0 : given[0]};
    default:
      return std::nullopt;
  }
}

}  // namespace headrace::engine

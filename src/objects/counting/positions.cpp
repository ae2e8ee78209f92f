#include "objects/counting/positions.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "objects/keys.hpp"

namespace headrace::objects {
namespace {

std::size_t lowest_bit(std::size_t number) { return number & (~number + 1); }

std::size_t index_of(const std::vector<Block>& blocks, const std::string& key) {
  const auto found =
      std::ranges::upper_bound(blocks, key, {}, [](const Block& one) -> auto& { return one.end; });
  return std::min(static_cast<std::size_t>(found - blocks.begin()), blocks.size() - 1);
}

}  // namespace

Positions::Positions(PendingTable& table, char kind, std::vector<Block> stored) {
  // Where another has changed the group, too, it is not sure what an entry is that was changed.
  const bool is_ours = table.is_current(std::string(kSums));
  const auto now = [&](const std::string& key) -> Value {
    const auto entry = table.stored(key);
    return entry ? Value(store::text_of(entry->value)) : std::nullopt;
  };
  table.each_change(std::string(1, kind),
                    [&](const std::string& key, const Value& base, const Value& mine) {
                      stored[index_of(stored, key)].links +=
                          links_in(key, mine) - links_in(key, is_ours ? base : now(key));
                    });
  for (Block& block : stored) {
    if (block.links >= 0 && block.links <= kMostInBlock) {
      blocks_.push_back(std::move(block));
    } else {
      auto pieces = cut(table, block);
      std::ranges::move(pieces, std::back_inserter(blocks_));
    }
  }
  sums_.resize(blocks_.size() + 1);
  for (std::size_t i = 0; i < blocks_.size(); ++i) raise(i, blocks_[i].links);
}

std::size_t Positions::block_of(const std::string& key) const { return index_of(blocks_, key); }

void Positions::raise(std::size_t block, std::int64_t links) {
  for (std::size_t i = block + 1; i < sums_.size(); i += lowest_bit(i)) sums_[i] += links;
}

std::uint64_t Positions::before(std::size_t block) const {
  std::int64_t links = 0;
  for (std::size_t i = block; i > 0; i -= lowest_bit(i)) links += sums_[i];
  return static_cast<std::uint64_t>(links);
}

std::optional<Positions::Place> Positions::at(std::uint64_t index) const {
  std::size_t block = 0;
  std::uint64_t left = index;
  for (std::size_t step = std::bit_floor(blocks_.size()); step > 0; step /= 2) {
    if (block + step >= sums_.size()) continue;
    const auto links = static_cast<std::uint64_t>(sums_[block + step]);
    if (links > left) continue;
    block += step;
    left -= links;
  }
  if (block == blocks_.size()) return std::nullopt;
  return Place{blocks_[block].begin, index - left};
}

Positions::Place Positions::of(const std::string& key) const {
  const std::size_t block = block_of(key);
  return {blocks_[block].begin, before(block)};
}

bool Positions::add(const std::string& key, std::int64_t links) {
  const std::size_t block = block_of(key);
  Block& of = blocks_[block];
  of.links += links;
  raise(block, links);
  constexpr std::int64_t kTooMany = 2 * kMostInBlock;
  return of.links >= 0 && of.links <= kTooMany;
}

}  // namespace headrace::objects

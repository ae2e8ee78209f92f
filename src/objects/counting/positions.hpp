// Where the links of a group are by their index, of one kind of its entries, changes included.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "objects/counting/blocks.hpp"
#include "objects/pending_table.hpp"

namespace headrace::objects {

// One thread. Finds and adds in a time that grows with the logarithm of the number of links.
class Positions {
 public:
  // `stored`: the blocks that the table has of the kind. Reads none of the links of those that the
  // table's changes leave as small as they are.
  Positions(PendingTable& table, char kind, std::vector<Block> stored);

  [[nodiscard]] std::uint64_t links() const { return before(blocks_.size()); }
  // Where a block begins, and how many links are in front of it.
  struct Place {
    std::string begin;
    std::uint64_t before = 0;
  };
  // The block with the link of an index; none where there are not so many links.
  [[nodiscard]] std::optional<Place> at(std::uint64_t index) const;
  // The block of a key.
  [[nodiscard]] Place of(const std::string& key) const;
  // So many links more. False: this is of no use any more, and is to be made anew.
  [[nodiscard]] bool add(const std::string& key, std::int64_t links);

 private:
  [[nodiscard]] std::size_t block_of(const std::string& key) const;
  [[nodiscard]] std::uint64_t before(std::size_t block) const;
  void raise(std::size_t block, std::int64_t links);

  std::vector<Block> blocks_;
  // Sums of neighbours: the one at i, counted from 1, is of as many blocks up to there as the
  // lowest bit of i that is set.
  std::vector<std::int64_t> sums_;
};

}  // namespace headrace::objects

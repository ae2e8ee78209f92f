// Which class of chunks has which slabs of a file, and in which ways of them a chunk can be. Slabs
// are dealt out by one process at a time, which has a lock for that.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "engine/cache/shared/layout.hpp"

namespace headrace::engine::cache {

// The ways of a slab in which a chunk can be.
struct Places {
  std::size_t of_class = 0;
  std::size_t at = 0;    // the slab's place among those of the class
  std::size_t slab = 0;  // its number
  std::size_t first = 0;
  std::size_t count = 0;  // of ways, at most kSet
};

class SlabTable {
 public:
  // `fixed` outlives the object.
  SlabTable(Fixed& fixed, const Layout& layout) : fixed_(fixed), layout_(layout) {}

  [[nodiscard]] std::size_t count_of(std::size_t of_class) const {
    return std::min<std::size_t>(fixed_.counts[of_class].load(), layout_.slabs);
  }
  // As many as there are where the file is damaged: no slab.
  [[nodiscard]] std::size_t slab_of(std::size_t of_class, std::size_t at) const;

  // Where a chunk may be: where it is put now first, then where it was put while the class had
  // fewer slabs.
  class Walk {
   public:
    Walk(const SlabTable& table, std::size_t of_class, std::uint64_t hash)
        : table_(table), class_(of_class), hash_(hash), count_(table.count_of(of_class)) {}
    bool next(Places& places) { return count_ > 0 && next_of_some(places); }

   private:
    bool next_of_some(Places& places);

    const SlabTable& table_;
    std::size_t class_;
    std::uint64_t hash_;
    std::size_t count_;
    std::size_t modulus_ = std::bit_ceil(std::max<std::size_t>(count_, 1));
    std::size_t last_ = kMostSlabs;
  };

  // Whether the class has that slab still.
  [[nodiscard]] bool has(const Places& places) const {
    return places.at < count_of(places.of_class) &&
           slab_of(places.of_class, places.at) == places.slab;
  }

  // A slab that no class has; else the last one of the class that has most, if that is more than
  // twice as many: no class has it from then on. As many as there are where there is none.
  [[nodiscard]] std::size_t take_for(std::size_t of_class) const;
  void give(std::size_t of_class, std::size_t slab) const;

 private:
  [[nodiscard]] std::size_t a_free_one() const;
  [[nodiscard]] std::size_t steal_for(std::size_t of_class) const;

  Fixed& fixed_;
  Layout layout_;
};

}  // namespace headrace::engine::cache

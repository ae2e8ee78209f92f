#include "engine/cache/shared/slab_table.hpp"

#include <bitset>

namespace headrace::engine::cache {

std::size_t SlabTable::slab_of(std::size_t of_class, std::size_t at) const {
  return std::min<std::size_t>(fixed_.slabs[of_class][at].load(), layout_.slabs);
}

bool SlabTable::Walk::next_of_some(Places& places) {
  const std::size_t ways = table_.layout_.places(class_);
  for (; modulus_ > 0 && ways > 0; modulus_ /= 2) {
    const std::size_t at = hash_ % modulus_;
    if (at >= count_ || at == last_) continue;
    last_ = at;
    const std::size_t slab = table_.slab_of(class_, at);
    if (slab >= table_.layout_.slabs) continue;
    const std::size_t sets = std::max<std::size_t>(ways / kSet, 1);
    const std::size_t first = (hash_ >> 24U) % sets * kSet;
    places = {class_, at, slab, first, std::min(kSet, ways - first)};
    modulus_ /= 2;
    return true;
  }
  return false;
}

std::size_t SlabTable::take_for(std::size_t of_class) const {
  if (count_of(of_class) == layout_.slabs) return layout_.slabs;
  const std::size_t slab = a_free_one();
  return slab < layout_.slabs ? slab : steal_for(of_class);
}

void SlabTable::give(std::size_t of_class, std::size_t slab) const {
  const std::size_t count = count_of(of_class);
  fixed_.slabs[of_class][count].store(static_cast<std::uint16_t>(slab));
  fixed_.counts[of_class].store(static_cast<std::uint32_t>(count + 1));
}

std::size_t SlabTable::a_free_one() const {
  std::bitset<kMostSlabs + 1> taken;
  for (std::size_t c = 0; c < kClasses; ++c)
    for (std::size_t at = 0; at < count_of(c); ++at) taken.set(slab_of(c, at));
  std::size_t slab = 0;
  while (slab < layout_.slabs && taken.test(slab)) ++slab;
  return slab;
}

std::size_t SlabTable::steal_for(std::size_t of_class) const {
  std::size_t richest = 0;
  for (std::size_t c = 1; c < kClasses; ++c)
    if (count_of(c) > count_of(richest)) richest = c;
  const std::size_t count = count_of(richest);
  if (richest == of_class || count <= 2 * count_of(of_class)) return layout_.slabs;
  const std::size_t slab = slab_of(richest, count - 1);
  fixed_.counts[richest].store(static_cast<std::uint32_t>(count - 1));
  return slab;
}

}  // namespace headrace::engine::cache

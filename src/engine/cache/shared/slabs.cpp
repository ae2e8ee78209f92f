#include "engine/cache/shared/slabs.hpp"

#include <fcntl.h>

#include <algorithm>
#include <bitset>
#include <chrono>

#include "base/error.hpp"

namespace headrace::engine::cache {
namespace {

// The lock of who changes which class has which slabs.
constexpr off_t kGrowing = off_t{1} << 59U;

std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
constexpr std::int64_t kAgain = std::chrono::nanoseconds(std::chrono::milliseconds(100)).count();

}  // namespace

std::size_t Slabs::count_of(std::size_t of_class) const {
  return std::min<std::size_t>(fixed().counts[of_class].load(), layout_.slabs);
}

// layout_.slabs where the file is damaged: no slab.
std::size_t Slabs::slab_of(std::size_t of_class, std::size_t at) const {
  return std::min<std::size_t>(fixed().slabs[of_class][at].load(), layout_.slabs);
}

std::span<Way> Slabs::ways_of(std::size_t slab, std::size_t of_class) const {
  if (slab >= layout_.slabs) return {};
  auto* const first = reinterpret_cast<Way*>(memory_ + layout_.ways_of(slab));
  return {first, layout_.places(of_class)};
}

Slabs::Sets::Sets(const Slabs& slabs, std::size_t of_class, std::uint64_t hash)
    : slabs_(slabs),
      class_(of_class),
      hash_(hash),
      count_(slabs.count_of(of_class)),
      modulus_(std::bit_ceil(std::max<std::size_t>(count_, 1))) {}

bool Slabs::Sets::next(WaySet& set) {
  for (; modulus_ > 0 && count_ > 0; modulus_ /= 2) {
    const std::size_t at = hash_ % modulus_;
    if (at >= count_ || at == last_) continue;
    last_ = at;
    const std::size_t slab = slabs_.slab_of(class_, at);
    const std::span<Way> ways = slabs_.ways_of(slab, class_);
    if (ways.empty()) continue;
    const std::size_t sets = std::max<std::size_t>(ways.size() / kSet, 1);
    const std::size_t first = (hash_ >> 24U) % sets * kSet;
    set = {ways.subspan(first, std::min(kSet, ways.size() - first)),
           slabs_.memory_ + slabs_.layout_.data_of(slab) + first * bytes_of_class(class_), class_,
           at, slab};
    modulus_ /= 2;
    return true;
  }
  return false;
}

bool Slabs::has(const WaySet& set) const {
  return set.at < count_of(set.of_class) && slab_of(set.of_class, set.at) == set.slab;
}

void Slabs::reserve_place(int descriptor, const WaySet& set, std::size_t way) const {
  if (set.ways[way].has_memory.load() != 0) return;
  reserve(descriptor, set.data_of(way) - memory_, static_cast<off_t>(bytes_of_class(set.of_class)));
  set.ways[way].has_memory.store(1);
}

bool Slabs::grow(int descriptor, const Owners& owners, std::size_t of_class) {
  if (now() < again_.load(std::memory_order_relaxed)) return false;
  const std::unique_lock lock(growing_, std::try_to_lock);
  if (!lock || !lock_byte(descriptor, kGrowing, F_WRLCK)) return false;
  bool grown = false;
  // No memory: what there is goes on being used.
  error_of([&] { grown = try_grow(descriptor, owners, of_class); });
  lock_byte(descriptor, kGrowing, F_UNLCK);
  if (!grown) again_.store(now() + kAgain, std::memory_order_relaxed);
  return grown;
}

bool Slabs::try_grow(int descriptor, const Owners& owners, std::size_t of_class) {
  const std::size_t count = count_of(of_class);
  if (count == layout_.slabs) return false;
  std::size_t slab = a_free_one();
  if (slab == layout_.slabs) slab = steal_for(of_class);
  if (slab == layout_.slabs) return false;
  if (!clear(slab, owners)) return false;
  const std::size_t places = layout_.places(of_class);
  if (places > fixed().reached[slab].load()) {
    reserve(descriptor, static_cast<off_t>(layout_.ways_of(slab)),
            static_cast<off_t>(places * sizeof(Way)));
    fixed().reached[slab].store(static_cast<std::uint32_t>(places));
  }
  fixed().slabs[of_class][count].store(static_cast<std::uint16_t>(slab));
  fixed().counts[of_class].store(static_cast<std::uint32_t>(count + 1));
  return true;
}

std::size_t Slabs::a_free_one() const {
  std::bitset<kMostSlabs + 1> taken;
  for (std::size_t c = 0; c < kClasses; ++c)
    for (std::size_t at = 0; at < count_of(c); ++at) taken.set(slab_of(c, at));
  std::size_t slab = 0;
  while (slab < layout_.slabs && taken.test(slab)) ++slab;
  return slab;
}

// The last slab of the class that has most, if that has more than twice as many: it is nobody's
// from now on.
std::size_t Slabs::steal_for(std::size_t of_class) const {
  std::size_t richest = 0;
  for (std::size_t c = 1; c < kClasses; ++c)
    if (count_of(c) > count_of(richest)) richest = c;
  const std::size_t count = count_of(richest);
  if (richest == of_class || count <= 2 * count_of(of_class)) return layout_.slabs;
  const std::size_t slab = slab_of(richest, count - 1);
  fixed().counts[richest].store(static_cast<std::uint32_t>(count - 1));
  return slab;
}

// Has no chunk in any way of the slab. False where a living process has claimed one: it fills the
// place, or sees by has() that its class has the slab no more.
bool Slabs::clear(std::size_t slab, const Owners& owners) const {
  const std::size_t reached = fixed().reached[slab].load();
  for (Way& way : ways_of(slab, 0).first(std::min(reached, layout_.places(0)))) {
    std::uint64_t word = way.state.load();
    do {
      const WayState state{word};
      if (state.is_claimed() && !owners.is_dead(state)) return false;
    } while (!way.state.compare_exchange_weak(
        word, WayState::settled(WayState{word}.sequence() + 1).word));
    way.length.store(0);
    way.tag.store(0);
    way.has_memory.store(0);
  }
  return true;
}

}  // namespace headrace::engine::cache

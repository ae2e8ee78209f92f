#include "engine/cache/shared/slabs.hpp"

#include <fcntl.h>

#include <algorithm>
#include <chrono>

#include "base/error.hpp"

namespace headrace::engine::cache {
namespace {

// The lock of who changes which class has which slabs.
constexpr off_t kGrowing = off_t{1} << 59U;

std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
constexpr std::int64_t kAgain = std::chrono::nanoseconds(std::chrono::milliseconds(100)).count();

}  // namespace

std::span<Way> Slabs::ways_of(std::size_t slab, std::size_t of_class) const {
  if (slab >= layout_.slabs) return {};
  auto* const first = reinterpret_cast<Way*>(memory_ + layout_.ways_of(slab));
  return {first, layout_.places(of_class)};
}

WaySet Slabs::set_at(const Places& places) const {
  const std::size_t bytes = bytes_of_class(places.of_class);
  return {places, ways_of(places.slab, places.of_class).subspan(places.first, places.count),
          memory_ + layout_.data_of(places.slab) + places.first * bytes};
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
  const std::size_t slab = table_.take_for(of_class);
  if (slab == layout_.slabs || !clear(slab, owners)) return false;
  const std::size_t places = layout_.places(of_class);
  if (places > fixed().reached[slab].load()) {
    reserve(descriptor, static_cast<off_t>(layout_.ways_of(slab)),
            static_cast<off_t>(places * sizeof(Way)));
    fixed().reached[slab].store(static_cast<std::uint32_t>(places));
  }
  table_.give(of_class, slab);
  return true;
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
  }
  return true;
}

}  // namespace headrace::engine::cache

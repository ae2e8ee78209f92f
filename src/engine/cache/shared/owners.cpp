#include "engine/cache/shared/owners.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "base/error.hpp"

namespace headrace::engine::cache {
namespace {

// Behind all that a file can have.
constexpr off_t kFirstByte = off_t{1} << 60U;

}  // namespace

Owners::Owners(int descriptor, Epochs& epochs) : descriptor_(descriptor), epochs_(epochs) {
  const auto first = static_cast<std::size_t>(::getpid());
  for (std::size_t i = 0; i < kOwners; ++i) {
    slot_ = static_cast<std::uint16_t>((first + i) % kOwners);
    if (!lock_byte(descriptor_, kFirstByte + slot_, F_WRLCK)) continue;
    epoch_ = static_cast<std::uint16_t>(epochs_[slot_].fetch_add(1) + 1);
    return;
  }
  throw Error("more processes share decoded chunks than can", ErrorKind::busy);
}

bool Owners::is_dead(WayState claimed) const {
  if (claimed.owner() >= kOwners) return true;
  if (static_cast<std::uint16_t>(epochs_[claimed.owner()].load()) != claimed.epoch()) return true;
  return claimed.owner() != slot_ && !is_locked(descriptor_, kFirstByte + claimed.owner());
}

bool Owners::any_other(int descriptor) { return is_locked(descriptor, kFirstByte, kOwners); }

}  // namespace headrace::engine::cache

// Who fills chunks of a shared file: each copy of the library in each process has a slot, which is
// its own as long as it has the lock on the slot's byte. What is killed has it no more.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "engine/cache/shared/folder.hpp"
#include "engine/cache/shared/layout.hpp"

namespace headrace::engine::cache {

class Owners {
 public:
  using Epochs = std::array<std::atomic<std::uint32_t>, kOwners>;
  // Takes a slot. `descriptor` is of an open file description that nobody else has; both outlive
  // the object. Error (busy) where all are taken.
  Owners(int descriptor, Epochs& epochs);

  [[nodiscard]] WayState claimed(std::uint64_t sequence) const {
    return WayState::claimed(sequence, slot_, epoch_);
  }
  // Whether a claim is of one who is gone: its slot is another's, or nobody's.
  [[nodiscard]] bool is_dead(WayState claimed) const;
  // Whether any other has a slot.
  [[nodiscard]] static bool any_other(int descriptor);

 private:
  int descriptor_;
  Epochs& epochs_;
  std::uint16_t slot_ = 0;
  std::uint16_t epoch_ = 0;
};

}  // namespace headrace::engine::cache

// A heap, as a blob has it. See docs/formats/container.md.
#pragma once

#include "store/store.hpp"

namespace headrace::objects {

inline constexpr std::byte kHeapVersion{1};
// The version, and the checksum of it and the values.
inline constexpr std::size_t kHeapHead = 1 + sizeof(std::uint32_t);

// Of a blob that has a head.
std::uint32_t checksum_of_heap(store::Bytes blob);
// Throws Error for a whole blob that is none: `corrupt`, or `unsupported` of another version.
void require_heap(store::Bytes blob);

}  // namespace headrace::objects

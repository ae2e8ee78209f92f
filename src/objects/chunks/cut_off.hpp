// What is left of a chunk whose dataset was cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/box.hpp"

namespace headrace::objects {

// The elements of a chunk, counted in chunks, that lie within an extent: so many from its first one
// on. `chunk` has its elements along each dimension.
engine::Index within(unsigned rank, const engine::Index& at, const engine::Index& chunk,
                     const std::vector<std::uint64_t>& dims);

// Puts `element` everywhere else.
void fill_beyond(unsigned rank, const engine::Index& left, const engine::Index& chunk,
                 std::span<const std::byte> element, std::span<std::byte> elements);

}  // namespace headrace::objects

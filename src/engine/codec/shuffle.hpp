// HDF5's shuffle filter.
#pragma once

#include <cstddef>
#include <span>

namespace headrace::engine {

// Puts the first bytes of all elements first, then the second ones, and so on; what is left over
// behind the last element stays. Both spans have the same size.
void shuffle(std::size_t element, std::span<const std::byte> from, std::span<std::byte> to);
void unshuffle(std::size_t element, std::span<const std::byte> from, std::span<std::byte> to);

}  // namespace headrace::engine

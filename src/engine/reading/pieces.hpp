// Which chunks a box has elements in, and what of it lies in one of them.
#pragma once

#include "engine/box.hpp"

namespace headrace::engine {

// All chunks of a grid; ~0 when that does not fit.
std::uint64_t count_chunks(const Grid& grid);

// Those that a box has elements in, see Pieces.
std::uint64_t count_pieces(const Grid& grid, const Box& box, const Index& step = kEach);

// The piece that lies in the chunk with that place; there is one.
Piece piece_in(const Grid& grid, const Box& box, const Index& step, std::uint64_t chunk);

}  // namespace headrace::engine

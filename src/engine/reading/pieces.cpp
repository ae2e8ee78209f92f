#include "engine/reading/pieces.hpp"

#include <algorithm>

namespace headrace::engine {

Piece piece_in(const Grid& grid, const Box& box, const Index& step, std::uint64_t chunk) {
  Piece piece;
  piece.chunk = chunk;
  piece.covers = true;
  piece.whole = true;
  for (unsigned d = grid.rank; d-- > 0;) {
    const std::uint64_t size = grid.chunk[d];
    const std::uint64_t along = (grid.dims[d] - 1) / size + 1;
    const std::uint64_t begin = chunk % along * size;
    const std::uint64_t end = std::min(begin + size, grid.dims[d]);
    const std::uint64_t before =
        begin <= box.start[d] ? 0 : (begin - box.start[d] - 1) / step[d] + 1;
    const std::uint64_t first = box.start[d] + before * step[d];
    const std::uint64_t count = std::min(box.count[d] - before, (end - 1 - first) / step[d] + 1);
    piece.origin[d] = begin;
    piece.box.start[d] = first;
    piece.box.count[d] = count;
    piece.covers = piece.covers && count == end - begin;
    piece.whole = piece.whole && count == size;
    chunk /= along;
  }
  return piece;
}

std::uint64_t count_pieces(const Grid& grid, const Box& box, const Index& step) {
  Index chunks{};
  for (unsigned d = 0; d < grid.rank; ++d) {
    const std::uint64_t size = grid.chunk[d];
    const std::uint64_t last = box.start[d] + (box.count[d] - 1) * step[d];
    chunks[d] = step[d] > size ? box.count[d] : last / size - box.start[d] / size + 1;
  }
  return volume(grid.rank, chunks);
}

std::uint64_t count_chunks(const Grid& grid) {
  Index chunks{};
  for (unsigned d = 0; d < grid.rank; ++d)
    chunks[d] = grid.dims[d] / grid.chunk[d] + (grid.dims[d] % grid.chunk[d] == 0 ? 0 : 1);
  return volume(grid.rank, chunks);
}

}  // namespace headrace::engine

#include "kernels/e3sm/map.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "kernels/e3sm/netcdf.hpp"

namespace headrace::bench::e3sm {
namespace {

// More would be a damaged file: they keep a broken count from taking all memory.
constexpr std::uint64_t kMostMaps = 64;
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 40U;

std::vector<std::uint64_t> shape_of(const NetcdfFile& file, const std::string& map) {
  const std::vector<std::int64_t> dims = file.integers_of_attribute(map + ".dims");
  const std::vector<std::int64_t> rank = file.integers_of_attribute(map + ".ndims");
  if (rank.size() != 1 || rank[0] < 1 || rank[0] > 2 ||
      dims.size() != static_cast<std::size_t>(rank[0]))
    throw Error(map + ".dims and .ndims do not tell one or two dimensions");
  std::uint64_t elements = 1;
  std::vector<std::uint64_t> shape;
  for (const std::int64_t length : dims) {
    if (length < 1 || static_cast<std::uint64_t>(length) > kMostElements / elements)
      throw Error(map + ".dims is negative, zero or too large");
    elements *= static_cast<std::uint64_t>(length);
    shape.push_back(static_cast<std::uint64_t>(length));
  }
  return shape;
}

// Ascending, neighbours joined.
std::vector<Piece> folded(std::vector<Piece> pieces) {
  std::ranges::sort(pieces, {}, &Piece::first);
  std::vector<Piece> all;
  for (const Piece& piece : pieces) {
    if (!all.empty() && all.back().first + all.back().count == piece.first)
      all.back().count += piece.count;
    else
      all.push_back(piece);
  }
  return all;
}

void check_cover(const Decomposition& map, std::uint64_t elements, const std::string& name) {
  std::vector<Piece> all;
  for (const auto& pieces : map.ranks) all.insert(all.end(), pieces.begin(), pieces.end());
  std::ranges::sort(all, {}, &Piece::first);
  std::uint64_t next = 0;
  for (const Piece& piece : all) {
    if (piece.first != next)
      throw Error(name + ": element " + std::to_string(std::min(next, piece.first)) + " has " +
                  (piece.first > next ? "no owner" : "two owners"));
    next += piece.count;
  }
  if (next != elements) throw Error(name + ": element " + std::to_string(next) + " has no owner");
}

Decomposition parse_one(const NetcdfFile& file, const std::string& name) {
  Decomposition map;
  map.shape = shape_of(file, name);
  std::uint64_t elements = 1;
  for (const std::uint64_t length : map.shape) elements *= length;
  const std::vector<std::int64_t> counts = file.integers_of_variable(name + ".nreqs");
  const std::vector<std::int64_t> offsets = file.integers_of_variable(name + ".offsets");
  const std::vector<std::int64_t> lengths = file.integers_of_variable(name + ".lengths");
  if (offsets.size() != lengths.size())
    throw Error(name + ".offsets and .lengths differ in length");
  std::size_t next = 0;
  for (const std::int64_t count : counts) {
    if (count < 0 || static_cast<std::uint64_t>(count) > offsets.size() - next)
      throw Error(name + ".nreqs tells other requests than .offsets has");
    std::vector<Piece> pieces;
    for (std::int64_t i = 0; i < count; ++i, ++next) {
      const auto first = static_cast<std::uint64_t>(offsets[next]);
      const auto length = static_cast<std::uint64_t>(lengths[next]);
      if (offsets[next] < 0 || lengths[next] < 1 || first >= elements || length > elements - first)
        throw Error(name + ": request " + std::to_string(next) + " is not inside the array");
      pieces.push_back({first, length});
    }
    map.ranks.push_back(folded(std::move(pieces)));
  }
  if (next != offsets.size()) throw Error(name + ".nreqs tells other requests than .offsets has");
  check_cover(map, elements, name);
  return map;
}

}  // namespace

std::uint64_t Decomposition::count(std::size_t rank) const {
  std::uint64_t sum = 0;
  for (const Piece& piece : ranks[rank]) sum += piece.count;
  return sum;
}

std::vector<Decomposition> parse_map(std::string_view text) {
  const NetcdfFile file(text);
  const std::uint64_t maps = file.dimension("num_decomp");
  if (maps < 1 || maps > kMostMaps) throw Error("num_decomp is zero or too large");
  const std::uint64_t ranks = file.dimension("decomp_nprocs");
  std::vector<Decomposition> all;
  for (std::uint64_t i = 1; i <= maps; ++i) {
    all.push_back(parse_one(file, 'D' + std::to_string(i)));
    if (all.back().ranks.size() != ranks || ranks == 0)
      throw Error('D' + std::to_string(i) + ".nreqs is not for decomp_nprocs ranks");
  }
  return all;
}

}  // namespace headrace::bench::e3sm

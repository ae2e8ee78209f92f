#include "kernels/e3sm/made_up.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "pattern.hpp"

namespace headrace::bench::e3sm {
namespace {

constexpr std::size_t kRanks = 16;

// How often runs of a length are in a map of E3SM-IO.
struct Share {
  std::uint64_t length;
  std::uint64_t count;
};
using Lengths = std::vector<Share>;

// A shuffle that is the same everywhere, which std::shuffle is not.
template <typename T>
void shuffle(std::vector<T>& all, std::string_view seed) {
  for (std::size_t i = all.size(); i > 1; --i)
    std::swap(all[i - 1], all[value<std::uint64_t>(key_of(seed), i) % i]);
}

// Runs over `elements`, each of one rank: the ranks get one in turn, in an order that changes.
Decomposition runs(std::uint64_t elements, const Lengths& lengths, const std::string& seed) {
  std::vector<std::uint64_t> all;
  for (const Share& share : lengths) all.insert(all.end(), share.count, share.length);
  shuffle(all, seed);
  Decomposition map{{elements}, std::vector<std::vector<Piece>>(kRanks)};
  std::vector<std::size_t> turn(kRanks);
  std::iota(turn.begin(), turn.end(), 0);
  std::uint64_t first = 0;
  for (std::size_t i = 0; first < elements; ++i) {
    if (i % kRanks == 0) shuffle(turn, seed + std::to_string(i));
    const std::uint64_t count = std::min(all[i % all.size()], elements - first);
    std::vector<Piece>& mine = map.ranks[turn[i % kRanks]];
    if (!mine.empty() && mine.back().first + mine.back().count == first)
      mine.back().count += count;
    else
      mine.push_back({first, count});
    first += count;
  }
  return map;
}

// The same runs in each of many rows.
Decomposition in_rows(const Decomposition& row, std::uint64_t rows) {
  Decomposition map{{rows, row.shape[0]}, std::vector<std::vector<Piece>>(kRanks)};
  for (std::size_t rank = 0; rank < kRanks; ++rank)
    for (std::uint64_t i = 0; i < rows; ++i)
      for (const Piece& piece : row.ranks[rank])
        map.ranks[rank].push_back({i * row.shape[0] + piece.first, piece.count});
  return map;
}

// Runs of whole rows.
Decomposition of_rows(const Decomposition& rows, std::uint64_t length) {
  Decomposition map{{rows.shape[0], length}, rows.ranks};
  for (std::vector<Piece>& pieces : map.ranks)
    for (Piece& piece : pieces) piece = {piece.first * length, piece.count * length};
  return map;
}

struct VariableKind {
  Type type;
  std::vector<std::size_t> dimensions;
  std::size_t count;
};

// In E3SM-IO's files, too, a variable has about three short texts.
Variable variable(const std::string& name, const VariableKind& kind) {
  return {name,
          kind.type,
          kind.dimensions,
          {{"long_name", "made up"}, {"units", "1"}, {"cell_methods", "time: mean"}}};
}

void add(Header& header, const VariableKind& kind) {
  static constexpr std::array kTypes{"char", "int", "float", "double"};
  std::string name;
  for (const std::size_t place : kind.dimensions) name += header.dimensions[place].name + '_';
  name += kTypes[static_cast<std::size_t>(kind.type)];
  for (std::size_t i = 0; i < kind.count; ++i)
    header.variables.push_back(variable(name + '_' + std::to_string(i), kind));
}

}  // namespace

std::vector<Decomposition> made_up_maps(char which) {
  if (which == 'f') {
    const Decomposition blocks =
        runs(866, {{9, 4}, {10, 2}, {12, 3}, {15, 6}, {18, 17}, {21, 3}, {24, 7}, {27, 3}, {36, 2}},
             "f1");
    const Decomposition columns = runs(866, {{1, 150}, {2, 95}, {3, 122}, {4, 40}}, "f2");
    return {blocks, columns, in_rows(columns, 72)};
  }
  const Decomposition cells =
      runs(285, {{1, 59}, {2, 26}, {3, 16}, {4, 6}, {5, 9}, {6, 7}, {7, 1}, {8, 1}}, "g1");
  const Decomposition edges = runs(
      879,
      {{1, 63}, {2, 41}, {3, 26}, {4, 16}, {5, 14}, {6, 17}, {7, 12}, {8, 8}, {12, 6}, {18, 11}},
      "g2");
  const Decomposition vertices = runs(593, {{1, 4}, {4, 8}, {6, 48}, {12, 16}, {18, 8}}, "g5");
  return {cells,
          edges,
          of_rows(cells, 100),
          of_rows(edges, 100),
          of_rows(vertices, 100),
          of_rows(cells, 101)};
}

Header made_up_header(char which) {
  Header header;
  std::vector<VariableKind> kinds;
  using enum Type;
  if (which == 'f') {
    header.dimensions = {{"time", 0}, {"nbnd", 2},  {"chars", 8},
                         {"lev", 72}, {"ilev", 73}, {"ncol", 866}};
    kinds = {{real, {0, 5}, 321},   {real, {0, 3, 5}, 63},   {double_real, {0}, 7},
             {integer, {0}, 5},     {integer, {}, 5},        {double_real, {5}, 2},
             {double_real, {3}, 3}, {double_real, {4}, 3},   {character, {0, 2}, 2},
             {double_real, {}, 1},  {double_real, {0, 1}, 1}};
    header.variables.push_back(variable("area", {double_real, {5}, 1}));  // it has a map of its own
  } else {
    header.dimensions = {{"Time", 0},        {"nCells", 285},        {"nEdges", 879},
                         {"nVertices", 593}, {"nVertLevelsP1", 101}, {"nVertLevels", 100},
                         {"StrLen", 64}};
    kinds = {{double_real, {0, 1, 5}, 24}, {double_real, {0}, 6},  {double_real, {0, 1}, 4},
             {double_real, {0, 1, 4}, 4},  {double_real, {5}, 4},  {integer, {2}, 2},
             {double_real, {0, 2, 5}, 1},  {integer, {2, 5}, 1},   {integer, {1, 5}, 1},
             {integer, {3, 5}, 1},         {character, {0, 6}, 1}, {double_real, {0, 3, 5}, 1},
             {double_real, {1}, 1},        {integer, {1}, 1}};
  }
  for (const VariableKind& kind : kinds) add(header, kind);
  return header;
}

}  // namespace headrace::bench::e3sm

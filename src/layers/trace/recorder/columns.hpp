// Rows of whole numbers in few bytes: column by column, each number as its difference from the one
// in the row before, as a varint.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/little_endian.hpp"
#include "engine/varint.hpp"

namespace headrace::trace {

// Appends `value` in four bytes, the lowest first.
inline void put_number(std::string& bytes, std::uint32_t value) {
  std::array<std::byte, sizeof value> all;
  put_little_endian(all.data(), value);
  bytes.append(reinterpret_cast<const char*>(all.data()), all.size());
}

// The columns one after the other, after the lengths of all (docs/formats/trace.md). `row_of` makes
// an array of the numbers of a row, of which there is one at least.
template <typename Row>
std::string in_columns(std::span<const Row> rows) {
  auto last = row_of(rows.front());
  auto differing = last;
  differing.fill(0);
  for (const Row& row : rows) {
    const auto numbers = row_of(row);
    for (std::size_t i = 0; i < numbers.size(); ++i) differing[i] |= numbers[i] ^ last[i];
  }
  std::array<std::string, std::tuple_size_v<decltype(last)>> columns;
  std::vector<std::size_t> changing;  // most columns have one number in all rows
  for (std::size_t i = 0; i < columns.size(); ++i) {
    engine::put_signed(columns[i], last[i]);
    if (differing[i] == 0)
      columns[i].append(rows.size() - 1, '\0');
    else
      changing.push_back(i);
  }
  for (const Row& row : rows.subspan(1)) {
    const auto numbers = row_of(row);
    for (const std::size_t i : changing)
      engine::put_signed(columns[i], numbers[i] - std::exchange(last[i], numbers[i]));
  }
  std::string all;
  for (const std::string& column : columns)
    put_number(all, static_cast<std::uint32_t>(column.size()));
  for (const std::string& column : columns) all += column;
  return all;
}

}  // namespace headrace::trace

// Rows of whole numbers in few bytes: column by column, each number as its difference from the one
// in the row before, as a varint.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/little_endian.hpp"
#include "engine/log/varint.hpp"

namespace headrace::trace {

// Appends `value` in four bytes, the lowest first.
inline void put_number(std::string& bytes, std::uint32_t value) {
  std::array<std::byte, sizeof value> all;
  put_little_endian(all.data(), value);
  bytes.append(reinterpret_cast<const char*>(all.data()), all.size());
}

// The columns one after the other, after the lengths of all (docs/formats/trace.md). `row_of` makes
// an array of the numbers of a row.
template <typename Row>
std::string in_columns(std::span<const Row> rows) {
  using Numbers = decltype(row_of(rows[0]));
  std::array<std::string, std::tuple_size_v<Numbers>> columns;
  Numbers last{};
  for (const Row& row : rows) {
    const Numbers numbers = row_of(row);
    for (std::size_t i = 0; i < columns.size(); ++i)
      engine::put_signed(columns[i], numbers[i] - std::exchange(last[i], numbers[i]));
  }
  std::string all;
  for (const std::string& column : columns)
    put_number(all, static_cast<std::uint32_t>(column.size()));
  for (const std::string& column : columns) all += column;
  return all;
}

}  // namespace headrace::trace

// Rows of whole numbers in few bytes: kept column by column, each number as its difference from the
// one in the row before, as a varint.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "engine/log/varint.hpp"

namespace headrace::trace {

template <std::size_t width>
class Columns {
 public:
  using Row = std::array<std::uint64_t, width>;

  void add(const Row& row) {
    for (std::size_t i = 0; i < width; ++i)
      engine::put_signed(columns_[i], row[i] - std::exchange(last_[i], row[i]));
    ++rows_;
  }
  [[nodiscard]] std::uint32_t rows() const { return rows_; }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = 0;
    for (const std::string& column : columns_) sum += column.size();
    return sum;
  }

  void clear() {
    for (std::string& column : columns_) column.clear();
    last_ = {};
    rows_ = 0;
  }

  // The columns one after the other, after the lengths of all (docs/formats/trace.md).
  [[nodiscard]] std::string encoded() const;

 private:
  std::array<std::string, width> columns_;
  Row last_{};
  std::uint32_t rows_ = 0;
};

// `value` in four bytes, the lowest first.
void put_number(std::string& bytes, std::uint32_t value);

template <std::size_t width>
std::string Columns<width>::encoded() const {
  std::string all;
  all.reserve(bytes() + 4 * width);
  for (const std::string& column : columns_)
    put_number(all, static_cast<std::uint32_t>(column.size()));
  for (const std::string& column : columns_) all += column;
  return all;
}

}  // namespace headrace::trace

// What an E3SM case writes: the variables of its history file, each with the map that partitions
// it.
#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

#include "kernels/e3sm/header.hpp"
#include "kernels/e3sm/map.hpp"

namespace headrace::bench::e3sm {

struct Field {
  std::string name;
  Type type = Type::real;
  bool record = false;                 // its first dimension is time
  std::vector<hsize_t> shape;          // without the time
  const Decomposition* map = nullptr;  // null: logical rank 0 writes it whole
  std::vector<Attribute> attributes;

  // The dimensions of its dataset.
  [[nodiscard]] std::vector<hsize_t> extents(hsize_t records) const;
  // Of a record.
  [[nodiscard]] std::uint64_t elements() const;
  // What a logical rank owns of a record.
  [[nodiscard]] std::vector<Piece> pieces(std::size_t rank) const;
};

std::size_t size_of(Type type);

struct Plan {
  Plan() = default;
  Plan(const Plan&) = delete;  // the fields point to the maps
  Plan& operator=(const Plan&) = delete;
  ~Plan() = default;

  std::vector<Decomposition> maps;
  std::vector<Field> fields;
  std::vector<Dimension> dimensions;
  std::vector<Attribute> attributes;

  [[nodiscard]] std::size_t ranks() const { return maps.front().ranks.size(); }
  [[nodiscard]] std::uint64_t bytes(std::uint64_t records) const;
};

// Fills `plan` for the case 'f' or 'g' from its two files in `folder`. Throws Error that names the
// file.
void load_plan(Plan& plan, const std::string& folder, char which);

// The same without files, see made_up.hpp.
void make_up_plan(Plan& plan, char which);

}  // namespace headrace::bench::e3sm

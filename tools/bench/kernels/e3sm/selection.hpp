// Dataspaces for what a logical rank owns of a variable.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "hdf5.hpp"
#include "kernels/e3sm/plan.hpp"

namespace headrace::bench::e3sm {

// How a union of many blocks is built.
enum class Building {
  combine,  // of rectangles, by halves: a time that grows little faster than the number of blocks
  append    // as E3SM-IO does it: H5S_SELECT_OR of one request after another, in the order of the
            // file, for each variable anew
};

struct Spaces {
  Handle memory;  // one-dimensional
  Handle file;
};

// The same as arrays of boxes, for headrace_write_n().
struct Boxes {
  std::size_t n = 0;
  std::vector<hsize_t> start;
  std::vector<hsize_t> count;
};

// Makes the dataspaces of one logical rank and record.
class Selections {
 public:
  // `records`: how many the datasets have room for now.
  Selections(Building building, std::size_t rank, hsize_t record, hsize_t records)
      : building_(building), rank_(rank), record_(record), records_(records) {}

  // `owned`: else nothing of it is selected.
  std::shared_ptr<const Spaces> of(const Field& field, bool owned);
  // Of a field that has dimensions and that the rank owns something of.
  std::shared_ptr<const Boxes> boxes_of(const Field& field);

 private:
  [[nodiscard]] std::shared_ptr<const Spaces> make(const Field& field, bool owned) const;
  [[nodiscard]] std::shared_ptr<const Boxes> make_boxes(const Field& field) const;
  [[nodiscard]] Handle file_space(const Field& field, const std::vector<Piece>& pieces) const;

  Building building_;
  std::size_t rank_;
  hsize_t record_;
  hsize_t records_;
  // Variables with one map have the same spaces.
  using Kind = std::pair<const Decomposition*, bool>;
  std::map<Kind, std::shared_ptr<const Spaces>> known_;
  std::map<Kind, std::shared_ptr<const Boxes>> known_boxes_;
};

}  // namespace headrace::bench::e3sm

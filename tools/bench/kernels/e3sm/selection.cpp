#include "kernels/e3sm/selection.hpp"

#include <algorithm>
#include <span>
#include <tuple>

namespace headrace::bench::e3sm {
namespace {

// Of an array that is seen as rows of its last dimension.
struct Rectangle {
  hsize_t row = 0;
  hsize_t column = 0;
  hsize_t rows = 1;
  hsize_t columns = 0;
};

// A piece is the end of a row, whole rows, and the beginning of one; each of them can be missing.
std::vector<Rectangle> rectangles(const std::vector<Piece>& pieces, hsize_t row_length) {
  std::vector<Rectangle> all;
  for (Piece piece : pieces) {
    while (piece.count > 0) {
      const hsize_t column = piece.first % row_length;
      const hsize_t rows = column == 0 ? piece.count / row_length : 0;
      const Rectangle next{piece.first / row_length, column, std::max<hsize_t>(rows, 1),
                           rows > 0 ? row_length : std::min(piece.count, row_length - column)};
      all.push_back(next);
      piece.first += next.rows * next.columns;
      piece.count -= next.rows * next.columns;
    }
  }
  return all;
}

// Joins those that lie above each other.
std::vector<Rectangle> stacked(std::vector<Rectangle> parts) {
  std::ranges::sort(parts, {}, [](const Rectangle& part) {
    return std::tuple(part.column, part.columns, part.row);
  });
  std::vector<Rectangle> all;
  for (const Rectangle& part : parts) {
    if (!all.empty() && all.back().column == part.column && all.back().columns == part.columns &&
        all.back().row + all.back().rows == part.row)
      all.back().rows += part.rows;
    else
      all.push_back(part);
  }
  std::ranges::sort(all, {},
                    [](const Rectangle& part) { return std::tuple(part.row, part.column); });
  return all;
}

// One or two dimensions, and the time before them.
class Target {
 public:
  Target(const Field& field, hsize_t record, hsize_t records)
      : shape_(field.extents(records)),
        first_(field.record ? 1 : 0),
        record_(record),
        two_(field.shape.size() == 2) {}

  [[nodiscard]] Handle space() const {
    return {H5Screate_simple(static_cast<int>(shape_.size()), shape_.data(), nullptr), H5Sclose,
            "dataspace"};
  }
  // Adds to the arrays.
  void box(const Rectangle& part, std::vector<hsize_t>& start, std::vector<hsize_t>& count) const {
    const std::size_t begin = start.size();
    start.resize(begin + shape_.size(), record_);
    count.resize(begin + shape_.size(), 1);
    if (two_) {
      start[begin + first_] = part.row;
      count[begin + first_] = part.rows;
    }
    start.back() = part.column;
    count.back() = part.columns;
  }
  void select(const Handle& space, H5S_seloper_t how, const Rectangle& part) const {
    std::vector<hsize_t> start;
    std::vector<hsize_t> count;
    box(part, start, count);
    check(H5Sselect_hyperslab(space.get(), how, start.data(), nullptr, count.data(), nullptr),
          "select");
  }
  // By halves.
  [[nodiscard]] Handle united(std::span<const Rectangle> parts) const {
    if (parts.size() == 1) {
      Handle one = space();
      select(one, H5S_SELECT_SET, parts[0]);
      return one;
    }
    const Handle left = united(parts.first(parts.size() / 2));
    const Handle right = united(parts.subspan(parts.size() / 2));
    return {H5Scombine_select(left.get(), H5S_SELECT_OR, right.get()), H5Sclose, "combine"};
  }

 private:
  std::vector<hsize_t> shape_;
  std::size_t first_;  // the place of the first dimension that is not the time
  hsize_t record_;
  bool two_;
};

}  // namespace

std::shared_ptr<const Spaces> Selections::of(const Field& field, bool owned) {
  if (field.map == nullptr || building_ == Building::append || !owned) return make(field, owned);
  auto& known = known_[{field.map, field.record}];
  if (!known) known = make(field, owned);
  return known;
}

std::shared_ptr<const Boxes> Selections::boxes_of(const Field& field) {
  if (field.map == nullptr) return make_boxes(field);
  auto& known = known_boxes_[{field.map, field.record}];
  if (!known) known = make_boxes(field);
  return known;
}

std::shared_ptr<const Boxes> Selections::make_boxes(const Field& field) const {
  auto boxes = std::make_shared<Boxes>();
  const Target target(field, record_, records_);
  for (Rectangle& part :
       rectangles(field.pieces(rank_), field.shape.empty() ? 1 : field.shape.back())) {
    if (field.shape.empty()) part.column = record_;  // just the time: its only dimension
    target.box(part, boxes->start, boxes->count);
    ++boxes->n;
  }
  return boxes;
}

std::shared_ptr<const Spaces> Selections::make(const Field& field, bool owned) const {
  std::vector<Piece> pieces;
  if (owned) pieces = field.pieces(rank_);
  hsize_t count = 0;
  for (const Piece& piece : pieces) count += piece.count;
  auto spaces = std::make_shared<Spaces>();
  const hsize_t length = std::max<hsize_t>(count, 1);
  spaces->memory = Handle(H5Screate_simple(1, &length, nullptr), H5Sclose, "dataspace");
  if (count == 0) check(H5Sselect_none(spaces->memory.get()), "select nothing");
  spaces->file = file_space(field, pieces);
  return spaces;
}

Handle Selections::file_space(const Field& field, const std::vector<Piece>& pieces) const {
  if (field.shape.empty() && !field.record) {
    Handle scalar(H5Screate(H5S_SCALAR), H5Sclose, "dataspace");
    if (pieces.empty()) check(H5Sselect_none(scalar.get()), "select nothing");
    return scalar;
  }
  const Target target(field, record_, records_);
  if (pieces.empty()) {
    Handle none = target.space();
    check(H5Sselect_none(none.get()), "select nothing");
    return none;
  }
  const hsize_t row_length = field.shape.empty() ? 1 : field.shape.back();
  std::vector<Rectangle> parts = rectangles(pieces, row_length);
  if (field.shape.empty()) parts[0].column = record_;  // just the time: its only dimension
  if (building_ == Building::combine) return target.united(stacked(std::move(parts)));
  Handle all = target.space();
  H5S_seloper_t how = H5S_SELECT_SET;
  for (const Rectangle& part : parts)
    for (hsize_t row = 0; row < part.rows; ++row) {  // E3SM-IO's requests end with the row
      target.select(all, how, {part.row + row, part.column, 1, part.columns});
      how = H5S_SELECT_OR;
    }
  return all;
}

}  // namespace headrace::bench::e3sm

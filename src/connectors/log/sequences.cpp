#include "connectors/log/sequences.hpp"

#include <algorithm>
#include <array>

namespace headrace::log_layout {
namespace {

constexpr hid_t kAll = 0;    // H5S_ALL
constexpr hid_t kBlock = 1;  // H5S_BLOCK
constexpr hid_t kPlist = 2;  // H5S_PLIST

struct Iterator {
  explicit Iterator(hid_t space) : id(h5.Ssel_iter_create(space, 1, 0)) {}
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;
  ~Iterator() {
    if (id >= 0) h5.Ssel_iter_close(id);
  }
  hid_t id;
};

// HDF5 lists rows in parts; a row that goes on in the next part is one.
void append(Runs& runs, hsize_t first, std::size_t count) {
  if (!runs.empty() && runs.back().first + runs.back().count == first)
    runs.back().count += count;
  else
    runs.push_back({first, count});
}

std::optional<Runs> sequences_of(hid_t space, std::size_t most) {
  constexpr std::size_t kPart = 1024;
  const hssize_t selected = h5.Sget_select_npoints(space);
  if (selected <= 0 || h5.Sselect_valid(space) <= 0) return std::nullopt;
  auto left = static_cast<std::size_t>(selected);
  const Iterator iterator(space);
  if (iterator.id < 0) return std::nullopt;
  Runs runs;
  std::array<hsize_t, kPart> first;
  std::array<std::size_t, kPart> count;
  while (left > 0) {
    std::size_t rows = 0;
    std::size_t elements = 0;
    if (h5.Ssel_iter_get_seq_list(iterator.id, kPart, left, &rows, &elements, first.data(),
                                  count.data()) < 0 ||
        elements == 0 || elements > left)
      return std::nullopt;
    for (std::size_t i = 0; i < rows; ++i) append(runs, first.at(i), count.at(i));
    if (runs.size() > most) return std::nullopt;
    left -= elements;
  }
  return runs;
}

}  // namespace

bool countable(const vol::Elements& dataset) {
  return engine::volume(dataset.rank, dataset.dims) != ~std::uint64_t{0};
}

std::optional<Runs> file_rows_of(const vol::Elements& dataset, hid_t file_space, std::size_t most) {
  if (file_space == kBlock || file_space == kPlist || !countable(dataset)) return std::nullopt;
  if (file_space == kAll) {
    const std::uint64_t elements = engine::volume(dataset.rank, dataset.dims);
    if (elements == 0) return std::nullopt;
    return Runs{{0, elements}};
  }
  unsigned rank = 0;
  engine::Index dims{};
  if (!vol::read_dims(file_space, rank, dims) || rank != dataset.rank) return std::nullopt;
  // One that was made before the dataset grew at its end has the same numbers for its elements.
  dims[0] = dataset.dims[0];
  if (dims != dataset.dims) return std::nullopt;
  auto rows = sequences_of(file_space, most);
  const std::uint64_t elements = engine::volume(rank, dims);
  const auto is_outside = [&](const engine::Run& row) { return row.first + row.count > elements; };
  if (rows && std::ranges::any_of(*rows, is_outside)) return std::nullopt;
  return rows;
}

std::optional<Runs> memory_rows_of(hid_t mem_space, const Runs& file, std::size_t most) {
  if (mem_space == kPlist) return std::nullopt;
  if (mem_space == kBlock) return Runs{{0, elements_of(file)}};
  if (mem_space == kAll) return file;  // the file's selection, in memory of the dataset's extent
  return sequences_of(mem_space, most);
}

bool append_rows(std::span<const hsize_t> start, std::span<const hsize_t> count,
                 const engine::Index& strides, std::size_t most, Runs& rows) {
  const std::size_t last = start.size() - 1;
  std::uint64_t first = 0;
  for (std::size_t d = 0; d <= last; ++d) first += start[d] * strides[d];
  std::array<hsize_t, H5S_MAX_RANK> at;  // within the box
  std::fill_n(at.begin(), last, 0);
  while (true) {
    append(rows, first, count[last]);
    if (rows.size() > most) return false;
    std::size_t d = last;
    while (true) {
      if (d == 0) return true;
      --d;
      first += strides[d];
      if (++at.at(d) < count[d]) break;
      first -= count[d] * strides[d];
      at.at(d) = 0;
    }
  }
}

}  // namespace headrace::log_layout

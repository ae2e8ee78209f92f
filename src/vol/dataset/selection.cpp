#include "vol/dataset/selection.hpp"

#include <algorithm>
#include <array>

namespace headrace::vol {
namespace {

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

using Numbers = std::array<hsize_t, H5S_MAX_RANK>;

// Elements in order from the first of a block to its last; none where others lie between.
std::optional<engine::Run> run_of(std::span<const hsize_t> first, std::span<const hsize_t> last,
                                  const Numbers& dims) {
  engine::Run run{0, 1};
  bool all = true;  // of the slower dimensions only one
  for (std::size_t d = 0; d < first.size(); ++d) {
    const hsize_t count = last[d] - first[d] + 1;
    if (!all && count != dims.at(d)) return std::nullopt;
    all = all && count == 1;
    run.first = run.first * dims.at(d) + first[d];
    run.count *= count;
  }
  return run;
}

// A union of hyperslabs by its blocks, where those are in order and each in one piece: HDF5 lists
// the rows of one in the fastest dimension, which may be many more. None where blocks have fewer
// than `least` elements on average.
std::optional<Runs> blocks_of(hid_t space, std::uint64_t selected, std::uint64_t least) {
  constexpr std::uint64_t kMost = 1 << 16;
  if (selected < least || h5.Sget_select_type(space) != H5S_SEL_HYPERSLABS) return std::nullopt;
  const hssize_t blocks = h5.Sget_select_hyper_nblocks(space);
  const int rank = h5.Sget_simple_extent_ndims(space);
  Numbers dims{};
  Numbers low{};
  Numbers high{};
  if (blocks <= 0 || static_cast<std::uint64_t>(blocks) > std::min(kMost, selected / least) ||
      rank <= 0 || h5.Sget_simple_extent_dims(space, dims.data(), nullptr) != rank ||
      h5.Sget_select_bounds(space, low.data(), high.data()) < 0)
    return std::nullopt;
  const auto sides = static_cast<std::size_t>(rank);
  std::vector<hsize_t> corners(static_cast<std::size_t>(blocks) * 2 * sides);
  if (h5.Sget_select_hyper_blocklist(space, 0, static_cast<hsize_t>(blocks), corners.data()) < 0)
    return std::nullopt;
  Runs runs;
  Numbers lowest;
  std::ranges::fill(lowest, ~hsize_t{0});
  for (std::span<const hsize_t> rest(corners); !rest.empty(); rest = rest.subspan(2 * sides)) {
    for (std::size_t d = 0; d < sides; ++d) lowest.at(d) = std::min(lowest.at(d), rest[d]);
    const auto run = run_of(rest.first(sides), rest.subspan(sides, sides), dims);
    if (!run || (!runs.empty() && run->first < runs.back().first + runs.back().count))
      return std::nullopt;
    append(runs, run->first, run->count);
  }
  // The list is that without the selection's offset (H5Soffset_simple).
  const bool offset = !std::equal(low.begin(), low.begin() + rank, lowest.begin());
  if (offset || engine::elements_of(runs) != selected) return std::nullopt;
  return runs;
}

std::optional<Runs> sequences_of(hid_t space, std::size_t most) {
  constexpr std::size_t kPart = 1024;
  const hssize_t selected = h5.Sget_select_npoints(space);
  if (selected <= 0 || h5.Sselect_valid(space) <= 0) return std::nullopt;
  if (auto runs = blocks_of(space, static_cast<std::uint64_t>(selected), 4))
    return runs->size() > most ? std::nullopt : std::move(runs);
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

// The rows, if the space is the dataset's and they lie in it.
std::optional<Runs> within(const Elements& dataset, hid_t file_space, std::optional<Runs> rows) {
  unsigned rank = 0;
  engine::Index dims{};
  if (!read_dims(file_space, rank, dims) || rank != dataset.rank) return std::nullopt;
  // One that was made before the dataset grew at its end has the same numbers for its elements.
  dims[0] = dataset.dims[0];
  if (dims != dataset.dims) return std::nullopt;
  const std::uint64_t elements = engine::volume(rank, dims);
  const auto is_outside = [&](const engine::Run& row) { return row.first + row.count > elements; };
  if (rows && std::ranges::any_of(*rows, is_outside)) return std::nullopt;
  return rows;
}

}  // namespace

bool countable(const Elements& dataset) {
  return engine::volume(dataset.rank, dataset.dims) != ~std::uint64_t{0};
}

bool is_scattered(hid_t file_space) {
  if (!is_dataspace(file_space)) return false;
  const H5S_sel_type type = h5.Sget_select_type(file_space);
  return type == H5S_SEL_POINTS ||
         (type == H5S_SEL_HYPERSLABS && h5.Sis_regular_hyperslab(file_space) <= 0);
}

bool goes_back(hid_t file_space) {
  constexpr hsize_t kSome = 64;
  const hssize_t points = h5.Sget_select_elem_npoints(file_space);
  const int rank = h5.Sget_simple_extent_ndims(file_space);
  if (points < 2 || rank <= 0) return false;
  const hsize_t count = std::min(kSome, static_cast<hsize_t>(points));
  const auto sides = static_cast<std::size_t>(rank);
  std::vector<hsize_t> all(count * sides);
  if (h5.Sget_select_elem_pointlist(file_space, 0, count, all.data()) < 0) return false;
  for (std::size_t at = sides; at < all.size(); at += sides) {
    const std::span<const hsize_t> both(&all[at - sides], 2 * sides);
    if (std::ranges::lexicographical_compare(both.subspan(sides), both.first(sides))) return true;
  }
  return false;
}

std::optional<Runs> file_rows_of(const Elements& dataset, hid_t file_space, std::size_t most) {
  if (file_space == kBlock || file_space == kPlist || !countable(dataset)) return std::nullopt;
  if (file_space == kAll) {
    const std::uint64_t elements = engine::volume(dataset.rank, dataset.dims);
    if (elements == 0) return std::nullopt;
    return Runs{{0, elements}};
  }
  return within(dataset, file_space, sequences_of(file_space, most));
}

std::optional<Runs> file_blocks_of(const Elements& dataset, hid_t file_space, std::uint64_t least) {
  if (!countable(dataset) || h5.Sselect_valid(file_space) <= 0) return std::nullopt;
  const hssize_t selected = h5.Sget_select_npoints(file_space);
  if (selected <= 0) return std::nullopt;
  return within(dataset, file_space,
                blocks_of(file_space, static_cast<std::uint64_t>(selected), least));
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

}  // namespace headrace::vol

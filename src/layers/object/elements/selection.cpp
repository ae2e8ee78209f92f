#include "layers/object/elements/selection.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"

namespace headrace::object {
namespace {

using Sizes = std::array<hsize_t, H5S_MAX_RANK>;

Id<Kind::dataspace> made(hid_t space) {
  if (space < 0) throw Error("HDF5 makes no dataspace: " + root_cause());
  return Id<Kind::dataspace>(space);
}

Id<Kind::dataspace> all_of(const objects::Header& header) {
  if (header.is_null) return made(h5.Screate(H5S_NULL));
  if (header.dims.empty()) return made(h5.Screate(H5S_SCALAR));
  Sizes dims{};
  std::ranges::copy(header.dims, dims.begin());
  return made(h5.Screate_simple(static_cast<int>(header.dims.size()), dims.data(), nullptr));
}

std::uint64_t selected_in(hid_t space, const char* where) {
  const hssize_t count = h5.Sget_select_npoints(space);
  if (count < 0 || h5.Sselect_valid(space) <= 0)
    throw Error(std::string("the selection in ") + where + " is not within the dataspace");
  return static_cast<std::uint64_t>(count);
}

// The dataspace may have been asked for before the dataset was resized.
void require_within(const objects::Header& header, hid_t space) {
  const int rank = h5.Sget_simple_extent_ndims(space);
  if (rank < 0 || static_cast<std::size_t>(rank) != header.dims.size())
    throw Error("the file dataspace has another rank than the dataset");
  Sizes first{};
  Sizes last{};
  if (rank > 0 && h5.Sget_select_bounds(space, first.data(), last.data()) < 0)
    throw Error("HDF5 does not tell the bounds of a selection: " + root_cause());
  for (std::size_t d = 0; d < header.dims.size(); ++d)
    if (last.at(d) >= header.dims[d])
      throw Error("the selection in the file is not within the dataset's extent");
}

// As if a dataspace without dimensions had one, of one element.
bool read_slab(hid_t space, vol::Hyperslab& slab) {
  if (!vol::read_hyperslab(space, slab)) return false;
  if (slab.rank > 0) return true;
  slab.rank = 1;
  slab.dims[0] = 1;
  slab.box.count[0] = 1;
  return true;
}

// Whether the elements lie one after the other.
bool is_run(const vol::Hyperslab& slab) {
  unsigned d = 0;
  while (d < slab.rank && slab.box.count[d] == 1) ++d;
  if (d == slab.rank) return true;
  if (slab.step[d] != 1) return false;
  for (++d; d < slab.rank; ++d)
    if (slab.box.count[d] != slab.dims[d]) return false;
  return true;
}

// Both have the same elements in the same order when their dimensions other than 1 agree.
bool match_sides(const vol::Hyperslab& file, const vol::Hyperslab& memory, std::size_t element,
                 engine::Index& strides) {
  const engine::Index dense = engine::strides_of(memory.rank, memory.dims, element);
  unsigned m = 0;
  for (unsigned d = 0; d < file.rank; ++d) {
    if (file.box.count[d] == 1) continue;
    while (m < memory.rank && memory.box.count[m] == 1) ++m;
    if (m == memory.rank || memory.box.count[m] != file.box.count[d]) return false;
    strides[d] = dense[m] * memory.step[m];
    ++m;
  }
  return true;
}

void append_run(vol::Runs& runs, const engine::Run& run) {
  if (!runs.empty() && runs.back().first + runs.back().count == run.first)
    runs.back().count += run.count;
  else
    runs.push_back(run);
}

}  // namespace

Selection selection_of(const objects::Header& header, hid_t file_space, hid_t mem_space) {
  if (file_space == vol::kBlock || file_space == vol::kPlist || mem_space == vol::kPlist)
    throw Error("selections in a transfer list (H5S_PLIST) are not supported");
  Selection selection;
  selection.file = file_space == vol::kAll ? all_of(header) : made(h5.Scopy(file_space));
  const hid_t file = selection.file.get();
  selection.count = selected_in(file, "the file");
  if (mem_space == vol::kBlock) {
    const hsize_t count = selection.count;
    selection.memory = made(h5.Screate_simple(1, &count, nullptr));
  } else {
    // H5S_ALL in memory is the file's selection, in an array of the file's extent.
    selection.memory = made(h5.Scopy(mem_space == vol::kAll ? file : mem_space));
  }
  if (selected_in(selection.memory.get(), "memory") != selection.count)
    throw Error("memory and file selections have different numbers of elements");
  if (selection.count > 0 && file_space != vol::kAll) require_within(header, file);
  return selection;
}

std::optional<vol::HyperslabTransfer> hyperslab_of(const Selection& selection,
                                                   std::size_t mem_element) {
  vol::Hyperslab file;
  vol::Hyperslab memory;
  if (!read_slab(selection.file.get(), file) || !read_slab(selection.memory.get(), memory))
    return std::nullopt;
  vol::HyperslabTransfer found;
  found.box = file.box;
  found.step = file.step;
  if (is_run(memory))
    found.mem_strides = engine::strides_of(file.rank, file.box.count, mem_element);
  else if (!match_sides(file, memory, mem_element, found.mem_strides))
    return std::nullopt;
  found.mem_offset = engine::offset_of(memory.rank, memory.box.start,
                                       engine::strides_of(memory.rank, memory.dims, mem_element));
  return found;
}

SelectedRuns::SelectedRuns(hid_t space, std::uint64_t elements)
    : iterator_(h5.Ssel_iter_create(space, 1, 0)), left_(elements), listed_(elements) {
  if (iterator_ < 0) throw Error("HDF5 does not list a selection: " + root_cause());
}

SelectedRuns::~SelectedRuns() { h5.Ssel_iter_close(iterator_); }

engine::Run SelectedRuns::next() {
  if (at_ == size_) {
    std::size_t elements = 0;
    at_ = 0;
    if (h5.Ssel_iter_get_seq_list(iterator_, kPart, listed_, &size_, &elements, first_.data(),
                                  count_.data()) < 0 ||
        elements == 0 || elements > listed_)
      throw Error("HDF5 does not list a selection: " + root_cause());
    listed_ -= elements;
  }
  return {first_.at(at_), count_.at(at_)};
}

void SelectedRuns::take(std::uint64_t elements) {
  left_ -= elements;
  first_.at(at_) += elements;
  count_.at(at_) -= elements;
  if (count_.at(at_) == 0) ++at_;
}

bool SelectionParts::next(vol::Runs& file, vol::Runs& memory) {
  constexpr std::size_t kMostRuns = 1 << 18;
  constexpr std::uint64_t kMostElements = 1 << 24;  // chunks may cut runs into single elements
  file.clear();
  memory.clear();
  std::uint64_t elements = 0;
  while (file_.left() > 0 && file.size() + memory.size() < kMostRuns && elements < kMostElements) {
    const engine::Run in_file = file_.next();
    const engine::Run in_memory = memory_.next();
    const std::uint64_t count =
        std::min({in_file.count, in_memory.count, kMostElements - elements});
    append_run(file, {in_file.first, count});
    append_run(memory, {in_memory.first, count});
    file_.take(count);
    memory_.take(count);
    elements += count;
  }
  return elements > 0;
}

}  // namespace headrace::object

#include "layers/object/virtual/unmapped.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "engine/buffer.hpp"
#include "hdf5/error_stack.hpp"
#include "vol/dataset/elements.hpp"

namespace headrace::object {
namespace {

std::vector<engine::Run> runs_of(hid_t space) {
  const hssize_t count = h5.Sget_select_npoints(space);
  if (count < 0) throw Error("HDF5 does not count a selection: " + root_cause());
  std::vector<engine::Run> runs;
  if (count == 0) return runs;
  SelectedRuns selected(space, static_cast<std::uint64_t>(count));
  while (selected.left() > 0) {
    runs.push_back(selected.next());
    selected.take(runs.back().count);
  }
  return runs;
}

void fill_run(const FillValue& fill, hid_t mem_type, hsize_t count, std::byte* memory) {
  const Id<Kind::dataspace> space(h5.Screate_simple(1, &count, nullptr));
  if (!space || h5.Dfill(fill.value, fill.type, memory, mem_type, space.get()) < 0)
    throw Error("HDF5 does not fill memory: " + root_cause());
}

}  // namespace

std::vector<engine::Run> unmapped(const Selection& selection, std::span<const hid_t> mapped) {
  std::vector<engine::Run> taken;
  for (const hid_t one : mapped) {
    const auto runs = runs_of(one);
    taken.insert(taken.end(), runs.begin(), runs.end());
  }
  std::vector<engine::Run> wanted = runs_of(selection.memory.get());
  std::ranges::sort(taken, {}, &engine::Run::first);
  std::ranges::sort(wanted, {}, &engine::Run::first);
  std::vector<engine::Run> left;
  std::size_t at = 0;
  for (const engine::Run& run : wanted) {
    std::uint64_t place = run.first;
    const std::uint64_t end = run.first + run.count;
    // What is taken may overlap: the runs are sorted by where they begin, not by where they end.
    while (at < taken.size() && taken[at].first + taken[at].count <= place) ++at;
    for (std::size_t i = at; i < taken.size() && taken[i].first < end; ++i) {
      if (taken[i].first > place) left.push_back({place, taken[i].first - place});
      place = std::max(place, std::min(end, taken[i].first + taken[i].count));
    }
    if (place < end) left.push_back({place, end - place});
  }
  return left;
}

void fill_memory(std::span<const engine::Run> runs, const FillValue& fill, hid_t mem_type,
                 std::byte* buffer) {
  const std::size_t element = h5.Tget_size(mem_type);
  if (vol::is_flat(mem_type) && h5.Tget_class(mem_type) != H5T_COMPOUND) {
    std::vector<std::byte> value(element);
    fill_run(fill, mem_type, 1, value.data());
    for (const engine::Run& run : runs)
      engine::fill_all(value, {buffer + run.first * element, run.count * element});
    return;
  }
  // Each element gets strings of its own, and keeps members that the fill value lacks.
  for (const engine::Run& run : runs)
    fill_run(fill, mem_type, run.count, buffer + run.first * element);
}

}  // namespace headrace::object

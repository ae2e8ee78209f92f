#include "layers/object/virtual/virtual_dataset.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"
#include "layers/object/elements/fill.hpp"
#include "layers/object/virtual/points.hpp"
#include "layers/object/virtual/unmapped.hpp"
#include "vol/dataset/selection.hpp"

namespace headrace::object {
namespace {

constexpr std::size_t kMostOpen = 128;  // sources of a dataset
constexpr unsigned kMostDeep = 32;      // virtual datasets whose sources are virtual

// Sources of sources that come back to the first one would be followed for ever.
class Depth {
 public:
  Depth() {
    if (depth_ >= kMostDeep) throw Error("the sources of the virtual dataset lead back to it");
    ++depth_;
  }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;
  ~Depth() { --depth_; }

 private:
  static thread_local unsigned depth_;
};
thread_local unsigned Depth::depth_ = 0;

std::string named(const Mapping& mapping, std::uint64_t block) {
  return "source dataset " + mapping.dataset.of(block) + " of file " + mapping.file.of(block);
}

Id<Kind::dataspace> with_extent_of(const Id<Kind::dataspace>& selection, hid_t extent) {
  Id<Kind::dataspace> space(h5.Scopy(selection.get()));
  if (h5.Sget_simple_extent_ndims(extent) != h5.Sget_simple_extent_ndims(selection.get()))
    throw Error("has another rank than the mapping");
  if (!space || h5.Sextent_copy(space.get(), extent) < 0) throw Error(root_cause());
  return space;
}

Id<Kind::dataspace> projected(hid_t from, hid_t to, hid_t part) {
  Id<Kind::dataspace> space(h5.Sselect_project_intersection(from, to, part));
  if (!space) throw Error("HDF5 does not map a selection: " + root_cause());
  return space;
}

std::uint64_t count_of(const Id<Kind::dataspace>& space) {
  const hssize_t count = h5.Sget_select_npoints(space.get());
  if (count < 0) throw Error("HDF5 does not count a selection: " + root_cause());
  return static_cast<std::uint64_t>(count);
}

bool is_of_points(const Selection& selection) {
  return h5.Sget_select_type(selection.file.get()) == H5S_SEL_POINTS;
}

// The box that a selection of at least one element lies in.
struct Bounds {
  explicit Bounds(const Id<Kind::dataspace>& space) {
    if (h5.Sget_simple_extent_ndims(space.get()) > 0 &&
        h5.Sget_select_bounds(space.get(), first.data(), last.data()) < 0)
      throw Error("HDF5 does not tell the bounds of a selection: " + root_cause());
  }
  Sizes first{};
  Sizes last{};
};

bool meets(const Mapping& mapping, const Bounds& bounds, std::size_t rank) {
  if (mapping.is_empty) return false;
  for (std::size_t d = 0; d < rank; ++d) {
    const bool is_open = mapping.unlimited && mapping.unlimited.dimension == d;
    if (bounds.last.at(d) < mapping.first.at(d)) return false;
    if (!is_open && bounds.first.at(d) > mapping.last.at(d)) return false;
  }
  return true;
}

// Whether their boxes do.
bool share_places(const Mapping& one, const Mapping& other, std::size_t rank) {
  if (one.is_empty || other.is_empty) return false;
  for (std::size_t d = 0; d < rank; ++d) {
    const bool ends = !one.unlimited || one.unlimited.dimension != d;
    const bool other_ends = !other.unlimited || other.unlimited.dimension != d;
    if (ends && one.last.at(d) < other.first.at(d)) return false;
    if (other_ends && other.last.at(d) < one.first.at(d)) return false;
  }
  return true;
}

}  // namespace

VirtualDataset::VirtualDataset(objects::Container& container, objects::Handle dataset, Types types,
                               Id<Kind::plist> dcpl)
    : container_(container),
      dataset_(std::move(dataset)),
      types_(std::move(types)),
      dcpl_(std::move(dcpl)),
      mappings_(mappings_of(dcpl_.get())),
      exist_(mappings_.size()) {}

void VirtualDataset::look_through(std::unique_ptr<Sources> sources, hid_t dapl) {
  hsize_t gap = 0;
  if (h5.Pget_virtual_view(dapl, &view_) < 0 || h5.Pget_virtual_printf_gap(dapl, &gap) < 0)
    throw Error("HDF5 does not tell how a virtual dataset is seen: " + root_cause());
  gap_ = view_ == H5D_VDS_LAST_AVAILABLE ? gap : 0;
  sources_ = std::move(sources);
}

Selection VirtualDataset::selected(hid_t file_space, hid_t mem_space) const {
  objects::Header extent;
  extent.dims = dims();
  extent.is_null = dataset_->header().is_null;
  Selection selection = selection_of(extent, file_space, mem_space);
  if (selection.count == 0) return selection;
  selection.file = without_offset(selection.file.get());
  selection.memory = without_offset(selection.memory.get());
  // All of it as HDF5 has it is all of a mapping, which may have a block that is cut off.
  const Sizes first{};
  Sizes count{};
  std::ranges::copy(dims(), count.begin());
  if (!dims().empty() && h5.Sget_select_type(selection.file.get()) == H5S_SEL_ALL &&
      h5.Sselect_hyperslab(selection.file.get(), H5S_SELECT_SET, first.data(), nullptr,
                           count.data(), nullptr) < 0)
    throw Error("HDF5 does not select a dataspace: " + root_cause());
  return selection;
}

void VirtualDataset::read(hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl,
                          void* buffer) try {
  const Depth depth;
  const Selection selection = selected(file_space, mem_space);
  if (selection.count == 0) return;
  if (buffer == nullptr) throw Error("there is no memory to read into");
  if (!is_of_points(selection)) return read_selected(selection, mem_type, dxpl, buffer);
  const Points points(selection, mem_type);
  engine::Buffer sorted(points.room());
  points.gather(static_cast<const std::byte*>(buffer), sorted.data());  // what is left as it is
  read_selected(points.sorted(), mem_type, dxpl, sorted.data());
  points.scatter(sorted.data(), static_cast<std::byte*>(buffer));
} catch (const Error&) {
  open_.clear();  // sources that lead back to the dataset would keep it
  throw;
}

void VirtualDataset::read_selected(const Selection& selection, hid_t mem_type, hid_t dxpl,
                                   void* buffer) {
  const std::vector<Part> parts = parts_of(selection);
  std::uint64_t mapped = 0;
  for (const Part& part : parts) {
    part.source->read(mem_type, part.memory.get(), part.file.get(), dxpl, buffer);
    mapped += part.count;
  }
  // What two mappings have is counted twice.
  if (mapped < selection.count || (parts.size() > 1 && may_overlap()))
    fill(selection, parts, mem_type, buffer);
}

void VirtualDataset::write(hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl,
                           const void* buffer) try {
  const Depth depth;
  const Selection selection = selected(file_space, mem_space);
  if (selection.count == 0) return;
  if (buffer == nullptr) throw Error("there is no memory to write from");
  if (!is_of_points(selection)) return write_selected(selection, mem_type, dxpl, buffer);
  const Points points(selection, mem_type);
  engine::Buffer sorted(points.room());
  points.gather(static_cast<const std::byte*>(buffer), sorted.data());
  write_selected(points.sorted(), mem_type, dxpl, sorted.data());
} catch (const Error&) {
  open_.clear();
  throw;
}

void VirtualDataset::write_selected(const Selection& selection, hid_t mem_type, hid_t dxpl,
                                    const void* buffer) {
  const std::vector<Part> parts = parts_of(selection);
  std::uint64_t mapped = 0;
  for (const Part& part : parts) mapped += part.count;
  const bool may_miss = parts.size() > 1 && may_overlap();
  if (mapped != selection.count || (may_miss && !unmapped_in(selection, parts).empty()))
    throw Error("write requested to unmapped portion of virtual dataset");
  for (const Part& part : parts)
    part.source->write(mem_type, part.memory.get(), part.file.get(), dxpl, buffer);
}

std::vector<VirtualDataset::Part> VirtualDataset::parts_of(const Selection& selection) {
  if (sources_ == nullptr) throw Error("the virtual dataset is not open");
  const Bounds bounds(selection.file);
  std::vector<Part> parts;
  for (const Mapping& mapping : mappings_) {
    if (!meets(mapping, bounds, dims().size())) continue;
    if (!mapping.unlimited)
      add_fixed(mapping, selection, parts);
    else if (mapping.has_blocks())
      add_blocks(mapping, selection, parts);
    else
      add_growing(mapping, selection, parts);
  }
  return parts;
}

void VirtualDataset::add_fixed(const Mapping& mapping, const Selection& selection,
                               std::vector<Part>& parts) {
  const Id<Kind::dataspace> here = with_extent_of(mapping.here, selection.file.get());
  add(mapping, 0, here, mapping.there, selection, parts);
}

// As many slices as both have.
void VirtualDataset::add_growing(const Mapping& mapping, const Selection& selection,
                                 std::vector<Part>& parts) {
  const std::shared_ptr<Source> found = source(mapping, 0);
  if (found == nullptr) return;
  const Unlimited& here = mapping.unlimited;
  const Unlimited& there = mapping.source_unlimited;
  const Id<Kind::dataspace> space = found->space();
  Sizes size{};
  if (h5.Sget_simple_extent_ndims(space.get()) != static_cast<int>(there.rank) ||
      h5.Sget_simple_extent_dims(space.get(), size.data(), nullptr) < 0)
    throw Error(named(mapping, 0) + " has another rank than the mapping");
  const std::uint64_t slices = std::min(here.slices_within(dims()[here.dimension]),
                                        there.slices_within(size.at(there.dimension)));
  if (slices == 0) return;
  add(mapping, 0, clipped(mapping.here.get(), here, here.extent_with(slices, /*gap=*/false)),
      clipped(mapping.there.get(), there, there.extent_with(slices, /*gap=*/false)), selection,
      parts);
}

void VirtualDataset::add_blocks(const Mapping& mapping, const Selection& selection,
                                std::vector<Part>& parts) {
  const Unlimited& here = mapping.unlimited;
  const Bounds bounds(selection.file);
  const std::uint64_t end = here.blocks_within(bounds.last.at(here.dimension) + 1);
  for (std::uint64_t i = here.block_behind(bounds.first.at(here.dimension)); i < end; ++i)
    add(mapping, i, block_of(mapping.here.get(), here, i), mapping.there, selection, parts);
}

void VirtualDataset::add(const Mapping& mapping, std::uint64_t block,
                         const Id<Kind::dataspace>& here, const Id<Kind::dataspace>& there,
                         const Selection& selection, std::vector<Part>& parts) try {
  Part part;
  part.memory = projected(selection.file.get(), selection.memory.get(), here.get());
  part.count = count_of(part.memory);
  if (part.count == 0) return;
  part.source = source(mapping, block);
  if (part.source == nullptr) return;
  const Id<Kind::dataspace> space = part.source->space();
  const Id<Kind::dataspace> in_source = with_extent_of(there, space.get());
  if (count_of(in_source) == count_of(here))
    part.file = projected(here.get(), in_source.get(), selection.file.get());
  if (!part.file || h5.Sselect_valid(part.file.get()) <= 0)
    throw Error("has another extent than the mapping selects from");
  parts.push_back(std::move(part));
} catch (const Error& error) {
  throw Error(named(mapping, block) + " " + error.what(), error);
}

bool VirtualDataset::may_overlap() {
  constexpr std::size_t kMost = 4096;  // mappings that are compared with each other
  if (!overlap_) {
    overlap_ = mappings_.size() > kMost;
    for (std::size_t i = 0; i < mappings_.size() && !*overlap_; ++i)
      for (std::size_t j = 0; j < i && !*overlap_; ++j)
        overlap_ = share_places(mappings_[i], mappings_[j], dims().size());
  }
  return *overlap_;
}

std::vector<engine::Run> VirtualDataset::unmapped_in(const Selection& selection,
                                                     std::span<const Part> parts) {
  std::vector<hid_t> mapped;
  for (const Part& part : parts) mapped.push_back(part.memory.get());
  return unmapped(selection, mapped);
}

// An undefined fill value leaves memory as it is.
void VirtualDataset::fill(const Selection& selection, std::span<const Part> parts, hid_t mem_type,
                          void* buffer) {
  const Id<Kind::datatype> type = types_.program();
  const Id<Kind::datatype> in_file = types_.file();
  const Id<Kind::plist> list(h5.Pcopy(dcpl_.get()));  // what the value leads to is its own
  restore_fill(dataset_->header(), type.get(), in_file.get(), list.get());
  H5D_fill_value_t defined = H5D_FILL_VALUE_ERROR;
  std::vector<std::byte> value(h5.Tget_size(type.get()));
  if (h5.Pfill_value_defined(list.get(), &defined) < 0 ||
      (defined == H5D_FILL_VALUE_USER_DEFINED &&
       h5.Pget_fill_value(list.get(), type.get(), value.data()) < 0))
    throw Error("HDF5 does not tell of a fill value: " + root_cause());
  if (defined == H5D_FILL_VALUE_UNDEFINED) return;
  const bool is_set = defined == H5D_FILL_VALUE_USER_DEFINED;
  fill_memory(unmapped_in(selection, parts), {is_set ? value.data() : nullptr, type.get()},
              mem_type, static_cast<std::byte*>(buffer));
}

std::shared_ptr<Source> VirtualDataset::source(const Mapping& mapping, std::uint64_t block) {
  const std::pair key(mapping.file.of(block), mapping.dataset.of(block));
  if (const auto found = open_.find(key); found != open_.end()) return found->second;
  std::shared_ptr<Source> opened = sources_->open(key.first, key.second);
  if (opened == nullptr) return nullptr;    // it is looked for again
  if (opened->is_virtual()) return opened;  // kept, two that lead to each other would never go
  if (open_.size() >= kMostOpen) open_.clear();
  open_[key] = opened;
  return opened;
}

void VirtualDataset::set_extent(const std::vector<std::uint64_t>& dims) {
  const auto least = least_dims(mappings_, dims.size());
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (dims[d] < least[d])
      throw Error(
          "virtual dataset dimensions not large enough to contain all limited dimensions in all "
          "selections");
  container_.change(dataset_).dims = dims;
  seen_dims_.reset();
}

std::uint64_t VirtualDataset::extent_of_blocks(std::size_t mapping) {
  const Mapping& one = mappings_[mapping];
  std::vector<bool>& exist = exist_[mapping];
  std::uint64_t end = 0;  // behind the last block that is there
  for (std::uint64_t i = 0; i - end <= gap_; ++i) {
    if (i >= exist.size()) exist.resize(i + 1);
    if (!exist[i]) exist[i] = source(one, i) != nullptr;
    if (exist[i]) end = i + 1;
  }
  if (end == 0) return 0;
  const Unlimited& here = one.unlimited;
  if (view_ == H5D_VDS_LAST_AVAILABLE) return here.end_of(end - 1);
  return here.start.at(here.dimension) + end * here.stride.at(here.dimension);
}

std::uint64_t VirtualDataset::wanted_extent(std::size_t mapping) {
  const Mapping& one = mappings_[mapping];
  if (one.has_blocks()) return extent_of_blocks(mapping);
  const std::shared_ptr<Source> found = source(one, 0);
  if (found == nullptr) return 0;
  Sizes size{};
  const Id<Kind::dataspace> space = found->space();
  if (h5.Sget_simple_extent_ndims(space.get()) != static_cast<int>(one.source_unlimited.rank) ||
      h5.Sget_simple_extent_dims(space.get(), size.data(), nullptr) < 0)
    throw Error(named(one, 0) + " has another rank than the mapping");
  const Unlimited& there = one.source_unlimited;
  return one.unlimited.extent_with(there.slices_within(size.at(there.dimension)),
                                   view_ == H5D_VDS_FIRST_MISSING);
}

const std::vector<std::uint64_t>& VirtualDataset::follow_sources(bool writable) try {
  if (sources_ == nullptr) throw Error("the virtual dataset is not open");
  const Depth depth;
  std::map<unsigned, std::uint64_t> wanted;  // of dimensions
  for (std::size_t i = 0; i < mappings_.size(); ++i) {
    if (!mappings_[i].unlimited) continue;
    const std::uint64_t its = wanted_extent(i);
    std::uint64_t& size = wanted.try_emplace(mappings_[i].unlimited.dimension, its).first->second;
    size = view_ == H5D_VDS_FIRST_MISSING ? std::min(size, its) : std::max(size, its);
  }
  std::vector<std::uint64_t> now = dims();
  const auto least = least_dims(mappings_, now.size());
  for (const auto& [dimension, size] : wanted)
    now.at(dimension) = std::max(size, least.at(dimension));
  for (std::size_t d = 0; d < now.size(); ++d)
    if (now[d] > dataset_->header().max_dims[d])
      throw Error("the sources of the virtual dataset exceed its largest dimensions");
  if (now != dims()) {
    if (writable)
      container_.change(dataset_).dims = std::move(now);
    else
      seen_dims_ = std::move(now);
  }
  return dims();
} catch (const Error&) {
  open_.clear();
  throw;
}

void VirtualDataset::flush() {
  FirstError failed;
  for (const auto& [key, source] : open_) failed.of([&] { source->flush(); });
  failed.rethrow();
}

void VirtualDataset::refresh() {
  seen_dims_.reset();
  for (auto& exist : exist_) exist.clear();
  for (const auto& [key, source] : open_) source->refresh();
  open_.clear();
}

}  // namespace headrace::object

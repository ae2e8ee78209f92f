// A virtual dataset of a container: its elements lie in other datasets, and its extent follows
// theirs, as HDF5 has it for files.
#pragma once

#include <map>
#include <span>

#include "layers/object/elements/elements.hpp"
#include "layers/object/elements/elsewhere.hpp"
#include "layers/object/elements/selection.hpp"
#include "layers/object/virtual/mapping.hpp"
#include "layers/object/virtual/sources.hpp"

namespace headrace::object {

// One for all handles of the dataset. The program's thread only; throws Error.
class VirtualDataset final : public Elsewhere {
 public:
  // As Elements.
  VirtualDataset(objects::Container& container, objects::Handle dataset, Types types,
                 Id<Kind::plist> dcpl);

  // Before anything else is asked for: where the sources are found, and how the extent follows
  // them. Natively the first opening of the dataset decides, too.
  void look_through(std::unique_ptr<Sources> sources, hid_t dapl);
  [[nodiscard]] bool has_sources() const { return sources_ != nullptr; }

  void read(hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl, void* buffer) override;
  void write(hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl,
             const void* buffer) override;
  void set_extent(const std::vector<std::uint64_t>& dims) override;
  // The extent, which follows those of the sources; as natively it is kept where the file may be
  // changed.
  const std::vector<std::uint64_t>& follow_sources(bool writable);
  // Of the sources.
  void flush();
  void refresh();

 private:
  struct Part {
    std::shared_ptr<Source> source;
    Id<Kind::dataspace> memory;
    Id<Kind::dataspace> file;  // of the source
    std::uint64_t count = 0;   // elements
  };
  [[nodiscard]] const std::vector<std::uint64_t>& dims() const {
    return seen_dims_ ? *seen_dims_ : dataset_->header().dims;
  }
  [[nodiscard]] Selection selected(hid_t file_space, hid_t mem_space) const;
  void read_selected(const Selection& selection, hid_t mem_type, hid_t dxpl, void* buffer);
  void write_selected(const Selection& selection, hid_t mem_type, hid_t dxpl, const void* buffer);
  [[nodiscard]] std::vector<Part> parts_of(const Selection& selection);
  void add_fixed(const Mapping& mapping, const Selection& selection, std::vector<Part>& parts);
  void add_growing(const Mapping& mapping, const Selection& selection, std::vector<Part>& parts);
  void add_blocks(const Mapping& mapping, const Selection& selection, std::vector<Part>& parts);
  void add(const Mapping& mapping, std::uint64_t block, const Id<Kind::dataspace>& here,
           const Id<Kind::dataspace>& there, const Selection& selection, std::vector<Part>& parts);
  static std::vector<engine::Run> unmapped_in(const Selection& selection,
                                              std::span<const Part> parts);
  void fill(const Selection& selection, std::span<const Part> parts, hid_t mem_type, void* buffer);

  [[nodiscard]] bool may_overlap();
  std::shared_ptr<Source> source(const Mapping& mapping, std::uint64_t block);
  // The extent of the unlimited dimension that a mapping asks for.
  [[nodiscard]] std::uint64_t wanted_extent(std::size_t mapping);
  [[nodiscard]] std::uint64_t extent_of_blocks(std::size_t mapping);

  objects::Container& container_;
  objects::Handle dataset_;
  Types types_;
  Id<Kind::plist> dcpl_;
  std::vector<Mapping> mappings_;
  std::unique_ptr<Sources> sources_;
  H5D_vds_view_t view_ = H5D_VDS_LAST_AVAILABLE;
  std::uint64_t gap_ = 0;  // blocks that may be missing
  // In a file that is only read.
  std::optional<std::vector<std::uint64_t>> seen_dims_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<Source>> open_;
  std::optional<bool> overlap_;           // whether elements may have several mappings
  std::vector<std::vector<bool>> exist_;  // of each mapping the blocks that were found
};

}  // namespace headrace::object

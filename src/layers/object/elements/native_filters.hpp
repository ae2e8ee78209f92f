// Filters that only HDF5 can run: on a dataset of one chunk in a native file that lies in memory.
// The program's thread only; throws Error.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/buffer.hpp"
#include "hdf5/filters/native_chunks.hpp"
#include "vol/chunks/chunked.hpp"
#include "vol/terminal/native_file.hpp"

namespace headrace::object {

// A native file in memory, one for all who have it. Nothing stays in it.
std::shared_ptr<vol::NativeFile> filters_file();
// A dataset there without a name, to be closed by vol::close_native(); throws Error with HDF5's
// cause.
void* new_native(const vol::NativeFile& file, hid_t type, hid_t space, hid_t dcpl);

// Closed with the object.
class NativeDataset {
 public:
  // Without a name. `file` outlives the object.
  NativeDataset(const vol::NativeFile& file, hid_t type, hid_t space, hid_t dcpl)
      : file_(file), dataset_(new_native(file, type, space, dcpl)) {}
  NativeDataset(const NativeDataset&) = delete;
  NativeDataset& operator=(const NativeDataset&) = delete;
  ~NativeDataset() { vol::close_native(*file_.connector(), H5I_DATASET, dataset_); }

  [[nodiscard]] UnderDataset get() const { return {dataset_, file_.connector()->get()}; }
  // With the parameters that filters have set for its type and chunks.
  [[nodiscard]] Id<Kind::plist> creation_list() const;

 private:
  const vol::NativeFile& file_;
  void* dataset_;
};

// A filter as a creation list has it.
struct ListedFilter {
  H5Z_filter_t id = H5Z_FILTER_NONE;
  unsigned flags = 0;
  std::vector<unsigned> values;  // its parameters
  bool operator==(const ListedFilter&) const = default;
};
// None where one has more parameters than HDF5 tells.
std::optional<std::vector<ListedFilter>> listed_filters(hid_t dcpl);
// In place of all that the list has.
void set_filters(hid_t dcpl, const std::vector<ListedFilter>& filters);

class NativeFilters {
 public:
  // `type`: of the elements in a container.
  NativeFilters(hid_t type, const vol::Chunked& chunks, hid_t dcpl);

  // The list of a dataset of one such chunk, as NativeDataset has it.
  [[nodiscard]] Id<Kind::plist> creation_list() const;

  engine::Buffer encode(std::span<const std::byte> chunk, std::uint32_t& left_out) const;
  void decode(std::uint32_t left_out, std::span<const std::byte> stored,
              std::span<std::byte> chunk) const;

 private:
  [[nodiscard]] Id<Kind::datatype> type() const;
  [[nodiscard]] NativeDataset one_chunk(hid_t type, hid_t list) const;
  [[nodiscard]] Id<Kind::plist> list_without(std::uint32_t left_out) const;

  std::shared_ptr<vol::NativeFile> file_;
  // When the library ends, HDF5 closes the ids of types and dataspaces before files, whose last
  // chunks are encoded then. Those of lists it closes after them.
  std::string type_;  // encoded
  std::vector<hsize_t> dims_;
  Id<Kind::plist> list_;
};

}  // namespace headrace::object

#include "connectors/async/raw_writes.hpp"

#include <array>

#include "drivers/async/mpi_file.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::async {
namespace {

using Bytes = std::span<const std::byte>;

constexpr hid_t kAll = 0;    // H5S_ALL
constexpr hid_t kBlock = 1;  // H5S_BLOCK
constexpr hid_t kPlist = 2;  // H5S_PLIST

bool unlinked = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// In a context of its own: HDF5 would take the list of this question for that of the write.
Id<Kind::dataspace> extent_of(const vol::Object& dataset) {
  const LibraryContext context;
  H5VL_dataset_get_args_t args{H5VL_DATASET_GET_SPACE, {}};
  args.args.get_space.space_id = kInvalidId;
  h5.VLdataset_get(dataset.under, dataset.connector->id(), &args, h5.transfer_list.get(), nullptr);
  return Id<Kind::dataspace>(args.args.get_space.space_id);
}

// From the first to the last element of a selection: offset and number, counted row by row.
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t elements = 0;
};

// The bounds of what is selected are its first and last element.
bool is_box(hid_t space) {
  const H5S_sel_type type = h5.Sget_select_type(space);
  return type == H5S_SEL_ALL || (type == H5S_SEL_HYPERSLABS && h5.Sis_regular_hyperslab(space) > 0);
}

Range selected_range(hid_t space) {
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  std::array<hsize_t, H5S_MAX_RANK> first{};
  std::array<hsize_t, H5S_MAX_RANK> last{};
  if (h5.Sget_select_npoints(space) <= 0 || !is_box(space)) return {};
  const int rank = h5.Sget_simple_extent_dims(space, dims.data(), nullptr);
  if (rank < 0) return {};
  if (rank > 0 && h5.Sget_select_bounds(space, first.data(), last.data()) < 0) return {};
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  for (unsigned d = 0; d < static_cast<unsigned>(rank); ++d) {
    begin = begin * dims.at(d) + first.at(d);
    end = end * dims.at(d) + last.at(d);
  }
  return {begin, end - begin + 1};
}

// Empty where it cannot be told; then nothing of it is staged.
Bytes buffer_of(const vol::Object& dataset, hid_t mem_type, hid_t mem_space, hid_t file_space,
                const void* buffer) {
  if (buffer == nullptr || mem_space == kPlist || file_space == kPlist || file_space == kBlock)
    return {};
  const bool of_file = mem_space == kAll || mem_space == kBlock;
  Id<Kind::dataspace> extent;
  hid_t space = of_file ? file_space : mem_space;
  if (space == kAll) {
    extent = extent_of(dataset);
    space = extent.get();
  }
  Range range = selected_range(space);
  if (mem_space == kBlock)
    range = {0, static_cast<std::uint64_t>(std::max<hssize_t>(h5.Sget_select_npoints(space), 0))};
  const std::size_t element = h5.Tget_size(mem_type);
  return {static_cast<const std::byte*>(buffer) + range.begin * element, range.elements * element};
}

bool is_independent(hid_t dxpl) {
  int mode = -1;  // an H5FD_mpio_xfer_t
  return h5.Pget(dxpl == kDefaultPlist ? h5.transfer_list.get() : dxpl, "io_xfer_mode", &mode) >=
             0 &&
         mode == 0;
}

}  // namespace

void mark_buffers(std::optional<ProgramBuffers>& scope, std::size_t count, void* dset[],
                  hid_t mem_type[], hid_t mem_space[], hid_t file_space[], hid_t dxpl,
                  const void* buf[]) {
  if (!staging_over_mpi()) return;
  const Aside aside;
  std::vector<Bytes> buffers;
  buffers.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    buffers.push_back(
        buffer_of(vol::Object::from(dset[i]), mem_type[i], mem_space[i], file_space[i], buf[i]));
  scope.emplace(std::move(buffers), is_independent(dxpl));
}

void note_unlinked() { unlinked = true; }

void settle_before_close() {
  if (unlinked) settle_mpi_files();
}

}  // namespace headrace::async

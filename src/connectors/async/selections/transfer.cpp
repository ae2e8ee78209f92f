#include "connectors/async/selections/transfer.hpp"

#include "hdf5/quiet_errors.hpp"

namespace headrace::async {
namespace {

// Whether the call is none that HDF5 carries out in a way of its own.
bool is_usual(const Arguments& arguments, std::string_view& why) {
  why = "left_for_transfer_list";
  return arguments.file_space != vol::kBlock && arguments.file_space != vol::kPlist &&
         arguments.mem_space != vol::kPlist && vol::leaves_data_alone(arguments.dxpl);
}

Transfer transfer_with(const Arguments& arguments, const vol::MemoryType& type) {
  Transfer transfer;
  transfer.mem_type = arguments.mem_type;
  transfer.mem_element = type.size;
  transfer.converts = type.converts;
  return transfer;
}

}  // namespace

std::optional<Transfer> hyperslab_transfer_of(Elements& dataset, const Arguments& arguments,
                                              std::string_view& why) {
  const PrivateErrors own;
  if (!is_usual(arguments, why)) return std::nullopt;
  why = "left_for_conversion";
  const auto type = vol::memory_type_of(dataset, arguments.mem_type);
  if (!type) return std::nullopt;
  why = "left_for_selection";
  if (!update_dims(dataset, arguments.object)) return std::nullopt;
  const auto slab =
      vol::hyperslab_transfer_of(dataset, arguments.mem_space, arguments.file_space, type->size);
  if (!slab) return std::nullopt;
  Transfer transfer = transfer_with(arguments, *type);
  static_cast<vol::HyperslabTransfer&>(transfer) = *slab;
  transfer.elements = engine::volume(dataset.rank, slab->box.count);
  return transfer;
}

std::optional<Transfer> scattered_transfer_of(Elements& dataset, const Arguments& arguments,
                                              std::string_view& why) {
  const PrivateErrors own;
  if (!is_usual(arguments, why)) return std::nullopt;
  why = "left_for_selection";
  if (!update_dims(dataset, arguments.object)) return std::nullopt;
  const auto file = vol::file_rows_of(dataset, arguments.file_space, kMostFragments);
  return file ? cut(dataset, arguments, dataset.grid(), *file) : std::nullopt;
}

std::optional<Transfer> cut(const Elements& dataset, const Arguments& arguments,
                            const engine::Grid& grid, const vol::Runs& file) {
  const auto type = vol::memory_type_of(dataset, arguments.mem_type);
  const auto memory = vol::memory_rows_of(arguments.mem_space, file, kMostFragments);
  const std::uint64_t elements = engine::elements_of(file);
  if (!type || !memory || engine::elements_of(*memory) != elements) return std::nullopt;
  auto fragments = engine::fragments_of(grid, file, *memory, kMostFragments);
  if (!fragments) return std::nullopt;
  Transfer transfer = transfer_with(arguments, *type);
  transfer.fragments = std::move(*fragments);
  transfer.elements = elements;
  transfer.distinct = h5.Sget_select_type(arguments.file_space) != H5S_SEL_POINTS;
  return transfer;
}

}  // namespace headrace::async

#include "vol/chunks/element_transfer.hpp"

#include "hdf5/quiet_errors.hpp"

namespace headrace::vol {
namespace {

constexpr Reason kLeftForList = "left_for_transfer_list";

// Whether the call is none that HDF5 carries out in a way of its own.
bool is_usual(const Transfer& call) {
  return call.file_space != kBlock && call.file_space != kPlist && call.mem_space != kPlist &&
         leaves_data_alone(call.dxpl);
}

ElementTransfer transfer_with(const Transfer& call, const MemoryType& type) {
  ElementTransfer transfer;
  transfer.mem_type = call.mem_type;
  transfer.mem_element = type.size;
  transfer.converts = type.converts;
  return transfer;
}

}  // namespace

std::variant<ElementTransfer, Reason> hyperslab_transfer_of(Elements& dataset,
                                                            const Transfer& call) {
  const PrivateErrors own;
  if (!is_usual(call)) return kLeftForList;
  const auto type = memory_type_of(dataset, call.mem_type);
  if (!type) return Reason("left_for_conversion");
  if (!update_dims(dataset, call.dataset)) return kLeftForSelection;
  const auto slab = hyperslab_transfer_of(dataset, call, type->size);
  if (!slab) return kLeftForSelection;
  ElementTransfer transfer = transfer_with(call, *type);
  static_cast<HyperslabTransfer&>(transfer) = *slab;
  transfer.elements = engine::volume(dataset.rank, slab->box.count);
  return transfer;
}

std::variant<ElementTransfer, Reason> scattered_transfer_of(Chunked& dataset,
                                                            const Transfer& call) {
  const PrivateErrors own;
  if (!is_usual(call)) return kLeftForList;
  if (!update_dims(dataset, call.dataset)) return kLeftForSelection;
  const auto file = file_rows_of(dataset, call.file_space, kMostFragments);
  if (!file) return kLeftForSelection;
  auto transfer = cut(dataset, call, dataset.grid(), *file);
  if (!transfer) return kLeftForSelection;
  return *std::move(transfer);
}

std::variant<ElementTransfer, Reason> element_transfer_of(Chunked& dataset, const Transfer& call) {
  auto found = hyperslab_transfer_of(dataset, call);
  const Reason* const why = std::get_if<Reason>(&found);
  if (why == nullptr || *why != kLeftForSelection) return found;
  return scattered_transfer_of(dataset, call);
}

std::optional<ElementTransfer> cut(const Elements& dataset, const Transfer& call,
                                   const engine::Grid& grid, const Runs& file) {
  const auto type = memory_type_of(dataset, call.mem_type);
  const auto memory = memory_rows_of(call.mem_space, file, kMostFragments);
  const std::uint64_t elements = engine::elements_of(file);
  if (!type || !memory || engine::elements_of(*memory) != elements) return std::nullopt;
  auto fragments = engine::fragments_of(grid, file, *memory, kMostFragments);
  if (!fragments) return std::nullopt;
  ElementTransfer transfer = transfer_with(call, *type);
  transfer.fragments = std::move(*fragments);
  transfer.elements = elements;
  transfer.distinct = h5.Sget_select_type(call.file_space) != H5S_SEL_POINTS;
  return transfer;
}

}  // namespace headrace::vol

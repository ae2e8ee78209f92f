#include "connectors/async/selections/transfer.hpp"

#include "hdf5/quiet_errors.hpp"

namespace headrace::async {

std::optional<Transfer> transfer_of(Elements& dataset, const vol::Object& object, hid_t mem_type,
                                    hid_t mem_space, hid_t file_space, hid_t dxpl,
                                    std::string_view& why) {
  const Aside aside;
  why = "left_for_transfer_list";
  if (file_space == vol::kBlock || file_space == vol::kPlist || mem_space == vol::kPlist ||
      !vol::leaves_data_alone(dxpl))
    return std::nullopt;
  why = "left_for_conversion";
  const auto type = vol::memory_type_of(dataset, mem_type);
  if (!type) return std::nullopt;
  why = "left_for_selection";
  if (!update_dims(dataset, object)) return std::nullopt;
  const auto block = vol::block_transfer_of(dataset, mem_space, file_space, type->size);
  if (!block) return std::nullopt;
  return Transfer{*block, mem_type, type->size, type->converts};
}

}  // namespace headrace::async

// What a read or write asks for, as a box of the dataset and strides of the program's memory.
#pragma once

#include <optional>
#include <string_view>

#include "connectors/async/dataset.hpp"
#include "vol/selection.hpp"

namespace headrace::async {

struct Transfer : vol::BlockTransfer {
  hid_t mem_type = kInvalidId;
  std::size_t mem_element = 0;  // bytes
  bool converts = false;        // the memory's type is another number type
};

// None when HDF5 must do it: selections that are no solid box, types that need more than a
// conversion of numbers, transfer properties that change the data, or arguments it will refuse;
// `why` tells then. The dataset's extent is up to date afterwards.
std::optional<Transfer> transfer_of(Elements& dataset, const vol::Object& object, hid_t mem_type,
                                    hid_t mem_space, hid_t file_space, hid_t dxpl,
                                    std::string_view& why);

}  // namespace headrace::async

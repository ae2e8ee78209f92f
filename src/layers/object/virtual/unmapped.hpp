// Elements of a read that no source has.
#pragma once

#include <span>

#include "layers/object/elements/selection.hpp"

namespace headrace::object {

// What a selection in memory has that none of the others has, in places of elements. The program's
// thread only; throws Error.
std::vector<engine::Run> unmapped(const Selection& selection, std::span<const hid_t> mapped);

// A fill value: `value` may be null, which is zeros.
struct FillValue {
  const void* value;
  hid_t type;
};
// As well; of the elements in memory.
void fill_memory(std::span<const engine::Run> runs, const FillValue& fill, hid_t mem_type,
                 std::byte* buffer);

}  // namespace headrace::object

#include "layers/async/connector/selections/direct_reads.hpp"

#include "hdf5/filters/native_chunks.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/async/connector/file_state.hpp"
#include "layers/async/connector/statistics.hpp"
#include "vol/own_question.hpp"

namespace headrace::async {
namespace {

// Where the first element lies; no driver for all that HDF5 must read.
Contiguous find(const vol::Object& object, const Elements& elements) {
  H5FD_t* driver = driver_for_reads(*object.connector, elements.identity.file);
  if (driver == nullptr) return {};
  const vol::OwnQuestion question;
  const haddr_t address = raw_address({object.under, object.connector->id()});
  const haddr_t end = driver->cls->get_eoa(driver, H5FD_MEM_DRAW);
  const std::uint64_t count = engine::volume(elements.rank, elements.dims);
  std::uint64_t bytes = 0;
  // Behind a user block HDF5 (1.14.5 to 2.2.0) tells an address before the block's end where there
  // is none. What is said to lie beyond the file is an error that HDF5 tells.
  if (address == HADDR_UNDEF || address < driver->base_addr ||
      __builtin_mul_overflow(count, elements.element, &bytes) || address > end ||
      bytes > end - address)
    return {};
  return {driver, address};
}

// Whether the box is one run of bytes in an array with these strides.
bool is_run(const Elements& elements, const engine::Index& count, const engine::Index& strides) {
  const engine::Index dense = engine::strides_of(elements.rank, count, elements.element);
  for (unsigned d = 0; d < elements.rank; ++d)
    if (count[d] != 1 && strides[d] != dense[d]) return false;
  return true;
}

}  // namespace

bool read_directly(const vol::Object& object, Elements& elements, const Transfer& transfer,
                   void* buffer) {
  if (!transfer.is_plain_block()) return false;
  if (!elements.contiguous) elements.contiguous = find(object, elements);
  const auto [driver, address] = *elements.contiguous;
  if (driver == nullptr) return false;
  const engine::Index& count = transfer.box.count;
  const auto strides = engine::strides_of(elements.rank, elements.dims, elements.element);
  if (!is_run(elements, count, strides) || !is_run(elements, count, transfer.mem_strides))
    return false;
  const haddr_t place = address + engine::offset_of(elements.rank, transfer.box.start, strides);
  const PrivateErrors own;
  if (driver->cls->read(driver, H5FD_MEM_DRAW, h5.transfer_list.get(), place,
                        transfer.elements * elements.element,
                        static_cast<std::byte*>(buffer) + transfer.mem_offset) < 0)
    return false;
  ++statistics().direct_reads;
  return true;
}

}  // namespace headrace::async

#include "drivers/model/calls.hpp"

#include "base/log.hpp"
#include "hdf5/mpio_transfer.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::model {

void tell(Recorder::Call& call, const Block& block, bool collective) {
  std::optional<TransferShape> shape;
  if (collective) shape = shape_of_collective(block.size);
  const TransferShape known = shape.value_or(TransferShape{0, block.size, block.size});
  call.piece(block.type, block.address + known.offset, known.length, known.span);
}

// HDF5 shortens the lists: from the first size 0 or type NOLIST on all are as the one before.
void tell(Recorder::Call& call, const Vector& vector, bool /*collective*/) {
  std::size_t size = 0;
  H5FD_mem_t type = H5FD_MEM_DEFAULT;
  bool same_size = false;
  bool same_type = false;
  for (std::uint32_t i = 0; i < vector.count; ++i) {
    same_size = same_size || vector.sizes[i] == 0;
    same_type = same_type || vector.types[i] == H5FD_MEM_NOLIST;
    if (!same_size) size = vector.sizes[i];
    if (!same_type) type = vector.types[i];
    call.piece(type, vector.addresses[i], size, size);
  }
}

void tell(Recorder::Call& call, const Selections& selections, bool /*collective*/) {
  const NestedCalls nested;
  std::size_t element = 0;
  bool same = false;
  for (std::size_t i = 0; i < selections.count; ++i) {
    same = same || selections.elements[i] == 0;
    if (!same) element = selections.elements[i];
    const haddr_t base = selections.offsets[i];
    if (!for_each_run(selections.spaces[i], element,
                      [&](std::uint64_t offset, std::uint64_t length) {
                        call.piece(selections.type, base + offset, length, length);
                      }))
      log(Level::warning, "model: a selection cannot be read; its bytes are not counted");
  }
}

bool made_together(Kind kind, vfd::Over over) {
  return over == vfd::Over::mpio && kind <= Kind::write && collective_transfer();
}

void record(H5FD_t* file, Configuration configuration, const char* name) {
  auto* opened = reinterpret_cast<OpenFile*>(file);
  Rank place;
  void* rank = &place.rank;
  void* ranks = &place.ranks;
  if (const auto control = opened->under->cls->ctl; control != nullptr) {
    // Drivers that do not know a code ignore it.
    control(opened->under, H5FD_CTL_GET_MPI_RANK_OPCODE, 0, nullptr, &rank);
    control(opened->under, H5FD_CTL_GET_MPI_SIZE_OPCODE, 0, nullptr, &ranks);
  }
  opened->recorder = std::make_unique<Recorder>(std::move(configuration), name, place);
}

}  // namespace headrace::model

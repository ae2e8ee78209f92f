#include "hdf5/mpio_transfer.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>

namespace headrace {
namespace {

// An MPI_Datatype as an argument: an int in one MPI's binary interface, a pointer in the other's.
// Either fits the first bytes of this, and the register that it is passed in.
using Datatype = std::uintptr_t;

struct Functions {
  herr_t (*transfer_mode)(int* mode) = nullptr;
  herr_t (*datatypes)(Datatype* memory, Datatype* file) = nullptr;
  int (*size)(Datatype type, int* size) = nullptr;
  int (*true_extent)(Datatype type, std::intptr_t* lower, std::intptr_t* extent) = nullptr;
  decltype(&::H5Ssel_iter_create) create = nullptr;
  decltype(&::H5Ssel_iter_get_seq_list) runs = nullptr;
  decltype(&::H5Ssel_iter_close) close = nullptr;

  Functions() {
    void* handle = dlopen(library.path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    if (handle == nullptr) handle = dlopen(nullptr, RTLD_LAZY);  // linked into the program
    if (handle == nullptr) return;
    bind(handle, "H5CX_get_io_xfer_mode", transfer_mode);
    bind(handle, "H5CX_get_mpi_coll_datatypes", datatypes);
    // A handle leads to the library's dependencies as well; no profiling tool has these names.
    bind(handle, "PMPI_Type_size", size);
    bind(handle, "PMPI_Type_get_true_extent", true_extent);
    bind(handle, "H5Ssel_iter_create", create);
    bind(handle, "H5Ssel_iter_get_seq_list", runs);
    bind(handle, "H5Ssel_iter_close", close);
  }

  template <typename F>
  static void bind(void* handle, const char* name, F& function) {
    function = reinterpret_cast<F>(dlsym(handle, name));
  }
};

const Functions& functions() {
  static const Functions bound;
  return bound;
}

}  // namespace

bool collective_transfer() {
  constexpr int kCollective = 1;  // H5FD_MPIO_COLLECTIVE, which serial headers do not have
  int mode = 0;
  return functions().transfer_mode != nullptr && functions().transfer_mode(&mode) >= 0 &&
         mode == kCollective;
}

std::optional<TransferShape> shape_of_collective(std::size_t count) {
  const Functions& f = functions();
  if (f.datatypes == nullptr || f.size == nullptr || f.true_extent == nullptr) return std::nullopt;
  Datatype memory = 0;
  Datatype file = 0;
  if (f.datatypes(&memory, &file) < 0) return std::nullopt;
  int memory_size = 0;
  int file_size = 0;
  std::intptr_t lower = 0;
  std::intptr_t extent = 0;
  if (f.size(memory, &memory_size) != 0 || f.size(file, &file_size) != 0 ||
      f.true_extent(file, &lower, &extent) != 0 || memory_size < 0 || extent < 0 || lower < 0)
    return std::nullopt;
  const std::uint64_t bytes = count * static_cast<std::uint64_t>(memory_size);
  // The file's datatype is repeated until all bytes have a place.
  const std::uint64_t tiles = file_size > 0 ? (bytes + static_cast<std::uint64_t>(file_size) - 1) /
                                                  static_cast<std::uint64_t>(file_size)
                                            : 0;
  return TransferShape{static_cast<std::uint64_t>(lower), bytes,
                       std::max(bytes, tiles * static_cast<std::uint64_t>(extent))};
}

bool for_each_run(hid_t space, std::size_t element,
                  const std::function<void(std::uint64_t, std::uint64_t)>& visit) {
  const Functions& f = functions();
  if (f.create == nullptr || f.runs == nullptr || f.close == nullptr) return false;
  const hid_t iterator = f.create(space, element, 0);
  if (iterator < 0) return false;
  constexpr std::size_t kAtOnce = 256;
  std::array<hsize_t, kAtOnce> offsets{};
  std::array<std::size_t, kAtOnce> lengths{};
  bool good = true;
  for (std::size_t elements = 1; good && elements > 0;) {
    std::size_t found = 0;
    good =
        f.runs(iterator, kAtOnce, SIZE_MAX, &found, &elements, offsets.data(), lengths.data()) >= 0;
    for (std::size_t i = 0; good && i < found; ++i) visit(offsets.at(i), lengths.at(i));
  }
  f.close(iterator);
  return good;
}

}  // namespace headrace

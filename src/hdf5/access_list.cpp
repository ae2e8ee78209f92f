#include "hdf5/access_list.hpp"

#include <array>
#include <cstddef>

#include "base/error.hpp"

namespace headrace {
namespace {

constexpr const char* kCommunicator = "mpi_params_comm";    // H5F_ACS_MPI_PARAMS_COMM_NAME
using Communicator = std::array<std::byte, sizeof(void*)>;  // an MPI_Comm, of whichever MPI

// What a list has under that name, as it lies there: H5Pget would duplicate it.
Communicator communicator_in(hid_t fapl) {
  Communicator found{};
  h5.peek_property(h5.object_of(fapl), kCommunicator, &found);
  return found;
}

// Takes a list's communicator away while it lives.
class WithoutCommunicator {
 public:
  explicit WithoutCommunicator(hid_t fapl) : list_(h5.object_of(fapl)) {
    const Communicator none = communicator_in(h5.access_list.get());
    before_ = communicator_in(fapl);
    taken_ = before_ != none;
    if (taken_) h5.poke_property(list_, kCommunicator, &none);
  }
  WithoutCommunicator(const WithoutCommunicator&) = delete;
  WithoutCommunicator& operator=(const WithoutCommunicator&) = delete;
  ~WithoutCommunicator() {
    if (taken_) h5.poke_property(list_, kCommunicator, &before_);
  }

 private:
  void* list_;
  Communicator before_;
  bool taken_ = false;
};

Id<Kind::plist> copy_of(hid_t fapl) {
  Id<Kind::plist> copy(h5.Pcopy(fapl));
  if (!copy) throw Error("the file access property list cannot be copied");
  return copy;
}

}  // namespace

bool is_over_mpi(hid_t fapl) {
  if (h5.mpio_driver == nullptr) return false;
  unsigned long flags = 0;
  return h5.FDdriver_query(h5.Pget_driver(fapl), &flags) >= 0 && (flags & H5FD_FEAT_HAS_MPI) != 0;
}

Id<Kind::plist> copy_access_list(hid_t fapl) {
  if (h5.mpio_driver == nullptr || h5.peek_property == nullptr || is_over_mpi(fapl))
    return copy_of(fapl);
  const WithoutCommunicator alone(fapl);
  return copy_of(fapl);
}

}  // namespace headrace

#include "comm/mpi_communicator.hpp"

#include <array>
#include <limits>
#include <string>

#include "base/error.hpp"

namespace headrace {

CommunicatorHandle MpiCommunicator::of(const MpiTable& mpi, hid_t fapl) {
  void* comm = nullptr;
  int rank = 0;
  int size = 0;
  check_mpi(mpi, "MPI_Comm_dup", mpi.open(h5.get_mpi_params, fapl, &comm, &rank, &size));
  return CommunicatorHandle(new MpiCommunicator(mpi, comm, rank, size));
}

CommunicatorHandle MpiCommunicator::world(const MpiTable& mpi) {
  void* comm = nullptr;
  int rank = 0;
  int size = 0;
  check_mpi(mpi, "MPI_Comm_dup", mpi.world(&comm, &rank, &size));
  return CommunicatorHandle(new MpiCommunicator(mpi, comm, rank, size));
}

void MpiCommunicator::barrier() { check_mpi(mpi_, "MPI_Barrier", mpi_.barrier(comm_)); }

void MpiCommunicator::broadcast(std::span<std::byte> bytes, int root) {
  check_mpi(mpi_, "MPI_Bcast", mpi_.broadcast(comm_, bytes.data(), bytes.size(), root));
}

void MpiCommunicator::all_gather(std::span<const std::byte> mine, std::span<std::byte> all) {
  check_sizes(mine.size(), all.size(), size_);
  if (mine.size() > std::numeric_limits<int>::max())
    throw Error("all_gather: " + std::to_string(mine.size()) + " bytes are more than MPI counts");
  check_mpi(mpi_, "MPI_Allgather",
            mpi_.all_gather(comm_, mine.data(), static_cast<int>(mine.size()), all.data()));
}

std::int64_t MpiCommunicator::reduce(std::int64_t mine, Reduction how) {
  std::int64_t result = 0;
  check_mpi(mpi_, "MPI_Allreduce", mpi_.reduce(comm_, mine, how, &result));
  return result;
}

void check_mpi(const MpiTable& mpi, const char* call, int code) {
  if (code == 0) return;
  if (code == kMpiNoParameters)
    throw Error("the access property list does not tell its communicator");
  if (code == kMpiNotRunning) throw Error(std::string(call) + ": MPI is not running");
  if (code == kMpiNoMemory) throw std::bad_alloc();
  std::array<char, 512> text{};
  mpi.error_text(code, text.data(), text.size());
  throw Error(std::string(call) + ": " + text.data());
}

}  // namespace headrace

#include "comm/mpi_communicator.hpp"

#include <algorithm>
#include <array>
#include <cstring>
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

// The bytes of each rank from `from` on, `most` of them. The vectors of `all` have their sizes.
void MpiCommunicator::gather_round(std::span<const std::byte> mine, std::size_t from,
                                   std::size_t most, std::vector<std::vector<std::byte>>& all) {
  std::vector<int> sizes;
  std::vector<int> places;
  std::size_t total = 0;
  for (const auto& one : all) {
    const std::size_t size = std::min(one.size() - std::min(one.size(), from), most);
    sizes.push_back(static_cast<int>(size));
    places.push_back(static_cast<int>(total));
    total += size;
  }
  std::vector<std::byte> received(total);
  const std::byte* const begin = mine.data() + std::min(mine.size(), from);
  check_mpi(mpi_, "MPI_Allgatherv",
            mpi_.all_gather_v(comm_, begin, received.data(), sizes.data(), places.data()));
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (sizes[rank] > 0)
      std::memcpy(all[rank].data() + from, received.data() + places[rank],
                  static_cast<std::size_t>(sizes[rank]));
}

std::vector<std::vector<std::byte>> MpiCommunicator::all_gather_any(
    std::span<const std::byte> mine) {
  constexpr std::size_t kAtOnce = 64U << 20U;  // MPI counts in int
  const auto ranks = static_cast<std::size_t>(size_);
  const std::uint64_t own = mine.size();
  std::vector<std::uint64_t> sizes(ranks);
  all_gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(sizes)));
  std::vector<std::vector<std::byte>> all;
  bool has_room = true;
  try {
    for (const std::uint64_t size : sizes) all.emplace_back(size);
  } catch (const std::bad_alloc&) {
    has_room = false;
  }
  if (reduce(has_room ? 1 : 0, Reduction::min) == 0)
    throw Error("a rank has no memory for what all ranks tell each other");
  const std::uint64_t longest = std::ranges::max(sizes);
  const std::size_t most = std::max<std::size_t>(kAtOnce / ranks, 1);
  for (std::uint64_t from = 0; from < longest; from += most) gather_round(mine, from, most, all);
  return all;
}

std::int64_t MpiCommunicator::reduce(std::int64_t mine, Reduction how) {
  std::int64_t result = 0;
  check_mpi(mpi_, "MPI_Allreduce", mpi_.reduce(comm_, mine, how, &result));
  return result;
}

int MpiCommunicator::lowest_on_node() {
  int rank = 0;
  check_mpi(mpi_, "MPI_Comm_split_type", mpi_.lowest_on_node(comm_, &rank));
  return rank;
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

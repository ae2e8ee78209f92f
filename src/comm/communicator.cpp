#include "comm/communicator.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "comm/mpi_communicator.hpp"
#include "comm/mpi_module.hpp"
#include "hdf5/access_list.hpp"

namespace headrace {
void check_sizes(std::size_t mine, std::size_t all, int ranks) {
  if (all != mine * static_cast<std::size_t>(ranks))
    throw Error("all_gather: " + std::to_string(all) + " bytes for " + std::to_string(ranks) +
                " ranks with " + std::to_string(mine) + " bytes each");
}

void SerialCommunicator::broadcast(std::span<std::byte> /*bytes*/, int root) {
  if (root != 0) throw Error("broadcast: there is no rank " + std::to_string(root));
}

void SerialCommunicator::all_gather(std::span<const std::byte> mine, std::span<std::byte> all) {
  check_sizes(mine.size(), all.size(), 1);
  std::ranges::copy(mine, all.begin());
}

std::vector<int> nodes_of(Communicator& ranks) {
  int mine = -1;
  try {
    mine = ranks.lowest_on_node();
  } catch (const Error&) {  // the others wait for what it says
  }
  std::vector<int> lowest(static_cast<std::size_t>(ranks.size()));
  ranks.all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(lowest)));
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const int one = lowest[static_cast<std::size_t>(rank)];
    if (one < 0 || one > rank || lowest[static_cast<std::size_t>(one)] != one)
      throw Error("MPI does not tell which ranks share a node");
  }
  return lowest;
}

CommunicatorHandle communicator_of(hid_t fapl) {
  if (!is_over_mpi(fapl)) return std::make_unique<SerialCommunicator>();
  return MpiCommunicator::of(mpi_module(), fapl);
}

}  // namespace headrace

// The processes that open a file together, and how a connector talks to them.
//
//   const CommunicatorHandle ranks = communicator_of(fapl);
//   const std::int64_t total = ranks->reduce(mine, Reduction::sum);
//
// Collective: communicator_of() and all functions but rank() and size(). Every rank must make the
// same calls in the same order, with the same sizes and root, or the program hangs. So make them
// where HDF5 itself is collective (always when a file is created, opened, deleted or closed; see
// HDF5's list of collective calls for the rest), and let nothing that may differ between ranks
// decide whether: no environment variable, no error of one rank's own.
//
// Threads: the application's, inside a callback. No MPI thread level is needed.
// Errors: Error with MPI's own text. Ranks that have not failed may be waiting by then, and MPI
// promises nothing for further calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/mpi_table.hpp"
#include "hdf5/api.hpp"

namespace headrace {

class Communicator {
 public:
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  Communicator(Communicator&&) = delete;
  Communicator& operator=(Communicator&&) = delete;
  virtual ~Communicator() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  virtual void barrier() = 0;
  // Everyone's bytes become the root's.
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  // `all` receives each rank's `mine`, in the order of ranks: size() times as many bytes.
  virtual void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  // What each rank gives, as many bytes as it likes, in the order of ranks.
  virtual std::vector<std::vector<std::byte>> all_gather_any(std::span<const std::byte> mine) = 0;
  // The result is the same on all ranks.
  virtual std::int64_t reduce(std::int64_t mine, Reduction how) = 0;
  // The lowest rank of those on the node of this one: what they write to a file they all see.
  virtual int lowest_on_node() = 0;
};

// Owns a communicator; moved, never copied.
using CommunicatorHandle = std::unique_ptr<Communicator>;

// The one process of a program without MPI.
class SerialCommunicator final : public Communicator {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  void barrier() override {}
  void broadcast(std::span<std::byte> bytes, int root) override;
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  std::vector<std::vector<std::byte>> all_gather_any(std::span<const std::byte> mine) override {
    return {{mine.begin(), mine.end()}};
  }
  std::int64_t reduce(std::int64_t mine, Reduction /*how*/) override { return mine; }
  int lowest_on_node() override { return 0; }
};

// Collective: of each rank the lowest on its node. Throws Error on all ranks when they do not fit
// together.
std::vector<int> nodes_of(Communicator& ranks);

// Throws Error unless `all` bytes hold `mine` bytes of each rank.
void check_sizes(std::size_t mine, std::size_t all, int ranks);

// The communicator of a file access property list. Serial unless the list's driver is one over MPI
// (mpio, or one of ours over it): then a duplicate, whose messages cannot meet the program's.
// Making it is MPI_Comm_dup, and destroying it MPI_Comm_free: both collective over the list's
// communicator, and nothing else is. Throws Error when the MPI module (mpi_module.cpp) is missing
// or does not fit the MPI that HDF5 uses.
CommunicatorHandle communicator_of(hid_t fapl);

}  // namespace headrace

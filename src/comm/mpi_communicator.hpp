// A communicator of MPI's, through the functions of an MPI module.
#pragma once

#include "comm/communicator.hpp"
#include "comm/mpi_module.hpp"

namespace headrace {

class MpiCommunicator final : public Communicator {
 public:
  // Collective: a duplicate of the communicator in a file access property list. Throws Error.
  static CommunicatorHandle of(const MpiTable& mpi, hid_t fapl);
  // Collective over all processes: a duplicate of MPI_COMM_WORLD. Throws Error.
  static CommunicatorHandle world(const MpiTable& mpi);

  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;
  MpiCommunicator(MpiCommunicator&&) = delete;
  MpiCommunicator& operator=(MpiCommunicator&&) = delete;
  ~MpiCommunicator() override { mpi_.close(comm_); }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }

  void barrier() override;
  void broadcast(std::span<std::byte> bytes, int root) override;
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  std::vector<std::vector<std::byte>> all_gather_any(std::span<const std::byte> mine) override;
  std::int64_t reduce(std::int64_t mine, Reduction how) override;
  int lowest_on_node() override;

  // For the module's functions.
  [[nodiscard]] void* handle() const { return comm_; }

 private:
  MpiCommunicator(const MpiTable& mpi, void* comm, int rank, int size)
      : mpi_(mpi), comm_(comm), rank_(rank), size_(size) {}

  void gather_round(std::span<const std::byte> mine, std::size_t from, std::size_t most,
                    std::vector<std::vector<std::byte>>& all);

  const MpiTable& mpi_;
  void* comm_;
  int rank_;
  int size_;
};

// Throws Error with MPI's own text unless `code`, from a function of the module, is 0.
void check_mpi(const MpiTable& mpi, const char* call, int code);

}  // namespace headrace

#include "comm/communicator.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "comm/mpi_module.hpp"

namespace headrace {
namespace {

void check_sizes(std::size_t mine, std::size_t all, int ranks) {
  if (all != mine * static_cast<std::size_t>(ranks))
    throw Error("all_gather: " + std::to_string(all) + " bytes for " + std::to_string(ranks) +
                " ranks with " + std::to_string(mine) + " bytes each");
}

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(const MpiTable& mpi, hid_t fapl) : mpi_(mpi) {
    check("MPI_Comm_dup", mpi_.open(h5.get_mpi_params, fapl, &comm_, &rank_, &size_));
  }
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;
  MpiCommunicator(MpiCommunicator&&) = delete;
  MpiCommunicator& operator=(MpiCommunicator&&) = delete;
  ~MpiCommunicator() override { mpi_.close(comm_); }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }

  void barrier() override { check("MPI_Barrier", mpi_.barrier(comm_)); }
  void broadcast(std::span<std::byte> bytes, int root) override {
    check("MPI_Bcast", mpi_.broadcast(comm_, bytes.data(), bytes.size(), root));
  }
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    check_sizes(mine.size(), all.size(), size_);
    if (mine.size() > std::numeric_limits<int>::max())
      throw Error("all_gather: " + std::to_string(mine.size()) + " bytes are more than MPI counts");
    check("MPI_Allgather",
          mpi_.all_gather(comm_, mine.data(), static_cast<int>(mine.size()), all.data()));
  }
  std::int64_t reduce(std::int64_t mine, Reduction how) override {
    std::int64_t result = 0;
    check("MPI_Allreduce", mpi_.reduce(comm_, mine, how, &result));
    return result;
  }

 private:
  void check(const char* call, int code) const {
    if (code == 0) return;
    if (code == kMpiNoParameters)
      throw Error("the access property list does not tell its communicator");
    if (code == kMpiNotRunning) throw Error(std::string(call) + ": MPI is not running");
    if (code == kMpiNoMemory) throw std::bad_alloc();
    std::array<char, 512> text{};
    mpi_.error_text(code, text.data(), text.size());
    throw Error(std::string(call) + ": " + text.data());
  }

  const MpiTable& mpi_;
  void* comm_ = nullptr;
  int rank_ = 0;
  int size_ = 0;
};

bool over_mpi(hid_t fapl) {
  if (h5.mpio_driver == nullptr) return false;
  unsigned long flags = 0;
  return h5.FDdriver_query(h5.Pget_driver(fapl), &flags) >= 0 && (flags & H5FD_FEAT_HAS_MPI) != 0;
}

}  // namespace

void SerialCommunicator::broadcast(std::span<std::byte> /*bytes*/, int root) {
  if (root != 0) throw Error("broadcast: there is no rank " + std::to_string(root));
}

void SerialCommunicator::all_gather(std::span<const std::byte> mine, std::span<std::byte> all) {
  check_sizes(mine.size(), all.size(), 1);
  std::ranges::copy(mine, all.begin());
}

CommunicatorHandle communicator_of(hid_t fapl) {
  if (!over_mpi(fapl)) return std::make_unique<SerialCommunicator>();
  return std::make_unique<MpiCommunicator>(mpi_module(), fapl);
}

}  // namespace headrace

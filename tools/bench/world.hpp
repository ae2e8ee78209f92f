// The processes of this run: one, or those that an MPI launcher has started.
#pragma once

#include <functional>
#include <string>

#include "comm/communicator.hpp"

namespace headrace::bench {

enum class UseMpi { automatic, yes, no };

class World {
 public:
  // Collective over all processes; binds to the libhdf5 that this program has loaded. Throws Error
  // when MPI is wanted and cannot be had.
  // With HDF5's own subfiling files lie in subfiles, which needs MPI_THREAD_MULTIPLE.
  explicit World(UseMpi use, bool subfiling = false);
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World();  // ends MPI

  [[nodiscard]] Communicator& ranks() { return *ranks_; }
  [[nodiscard]] int rank() const { return ranks_->rank(); }
  [[nodiscard]] int size() const { return ranks_->size(); }
  [[nodiscard]] bool parallel() const { return parallel_; }
  [[nodiscard]] bool subfiling() const { return subfiling_; }

  // Makes the access property list one for all ranks (mpio, or HDF5's subfiling); nothing in a
  // serial run.
  void share(hid_t fapl) const;
  // The largest and smallest of all ranks' `mine`, in seconds.
  double largest(double mine);
  double smallest(double mine);
  std::uint64_t sum(std::uint64_t mine);
  // The sum of the `mine` of all ranks before this one.
  std::uint64_t before(std::uint64_t mine);
  // Runs `action` on rank 0 and tells all of its failure. Collective.
  void on_first(const std::function<void()>& action);

 private:
  CommunicatorHandle ranks_;
  bool parallel_ = false;
  bool subfiling_;
};

// The libhdf5 that this program has loaded.
struct Hdf5Library {
  std::string path;
  std::string version;  // "1.14.5"
  bool parallel;
};
Hdf5Library hdf5_library();

}  // namespace headrace::bench

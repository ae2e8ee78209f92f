// Where the logs of ranks are that have a file open together, as one of them sees it: in a file
// each, or (mpi_logs=node) in one with those of the other ranks on the node. No HDF5.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "engine/device.hpp"
#include "engine/log/node_file.hpp"
#include "sidecar/rank_logs.hpp"

namespace headrace::sidecar {

class LogStore {
 public:
  // `lowest`: of each rank the lowest on its node; none where each rank has a file of its own.
  LogStore(std::string file, const engine::log::Owner& owner, Lifetime lifetime, int rank,
           const std::vector<int>& lowest);

  // Whether this rank makes, empties and removes the file that its log is in.
  [[nodiscard]] bool leads() const { return leads_; }
  [[nodiscard]] bool by_node() const { return !in_.empty(); }
  // The file, new or that of the rank that leads, open for reading and writing, and locked as long
  // as it is. Throws Error.
  [[nodiscard]] int open() const;
  [[nodiscard]] std::string path_of(int rank) const;
  // A log, to be read; and this rank's, to be written to that file, or read.
  [[nodiscard]] std::unique_ptr<engine::Device> device_of(int rank) const;
  [[nodiscard]] std::unique_ptr<engine::Device> own_device(int descriptor) const;
  // By the rank that leads, when no rank uses them: nothing is left in the logs; in one that is a
  // file, what it belongs to. Throws Error.
  void empty(int descriptor, bool sync) const;

 private:
  struct In {
    std::uint32_t node = 0;
    std::size_t place = 0;
  };
  [[nodiscard]] const In& own() const { return in_[static_cast<std::size_t>(rank_)]; }
  [[nodiscard]] std::unique_ptr<engine::Device> log_of(int rank,
                                                       std::unique_ptr<engine::Device> file) const;

  std::string file_;
  engine::log::Owner owner_;
  Lifetime lifetime_;
  int rank_;
  bool leads_ = true;
  std::vector<In> in_;  // by rank
  std::vector<engine::log::NodeFile> nodes_;
};

}  // namespace headrace::sidecar

// Where the logs of a file are, as a process that writes to it sees them. That of a process which
// has the file alone is in a file that has no name, or (kept) in one that is found by its name.
// Ranks that have it open together have a file each, or (mpi_logs=node) one with the other ranks of
// their node. No HDF5.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/io/file.hpp"
#include "engine/log/node_file.hpp"
#include "sidecar/rank_logs.hpp"

namespace headrace::sidecar {

class LogStore {
 public:
  // Of a process that has the file alone. `place`: a folder of the node's own storage for logs, or
  // none: they are beside the file.
  LogStore(std::string file, const engine::log::Owner& owner, Lifetime lifetime, std::string place);
  // Of one of several ranks. `lowest`: of each rank the lowest on its node; none where each rank
  // has a file of its own.
  struct Rank {
    int rank;
    int ranks;
    std::vector<int> lowest;
  };
  LogStore(std::string file, const engine::log::Owner& owner, Lifetime lifetime, std::string place,
           const Rank& rank);

  // Whether this rank makes, empties and removes the file that its log is in.
  [[nodiscard]] bool leads() const { return leads_; }
  [[nodiscard]] bool by_node() const { return !in_.empty(); }
  // The file, open for reading and writing: new, or the one that was left empty, or that of the
  // rank that leads. Those of ranks are locked as long as they are open. Throws Error.
  [[nodiscard]] int open(bool is_new);
  // Whether what was opened is in its place, and not beside the file.
  [[nodiscard]] bool is_placed() const { return placed_; }
  // Has the descriptor stand for the node's log where that is by now, by its name. Throws Error.
  void find_moved(int descriptor);
  // Empty where it has no name.
  [[nodiscard]] std::string path_of(int rank) const;
  [[nodiscard]] std::string own_path() const { return path_of(rank_); }
  // What a log says that it belongs to; none where nobody looks for that.
  [[nodiscard]] std::optional<engine::log::Belonging> belonging(int rank) const;
  [[nodiscard]] std::optional<engine::log::Belonging> own_belonging() const {
    return belonging(rank_);
  }
  // A log, to be read; and this rank's, to be written to that file, or read.
  [[nodiscard]] std::unique_ptr<engine::io::File> storage_of(int rank) const;
  [[nodiscard]] std::unique_ptr<engine::io::File> own_storage(int descriptor) const;
  // By the rank that leads, when no rank uses them: nothing is left in the logs; in one that is a
  // file, what it belongs to. Throws Error.
  void empty(int descriptor, bool sync) const;
  // By the rank that leads: its file goes, and the folder with the last one. Throws Error when a
  // log remains that outlives the program.
  void remove() const;

 private:
  struct In {
    std::uint32_t node = 0;
    std::size_t place = 0;
  };
  [[nodiscard]] int open_named(bool is_new) const;
  [[nodiscard]] bool alone() const { return ranks_ == 0; }
  [[nodiscard]] bool unnamed() const { return alone() && lifetime_ == Lifetime::temporary; }
  [[nodiscard]] const In& own() const { return in_[static_cast<std::size_t>(rank_)]; }
  [[nodiscard]] std::unique_ptr<engine::io::File> log_of(
      int rank, std::unique_ptr<engine::io::File> file) const;

  std::string file_;
  engine::log::Owner owner_;
  Lifetime lifetime_;
  std::string place_;
  bool placed_ = false;
  int rank_ = 0;
  int ranks_ = 0;  // 0: a process alone
  bool leads_ = true;
  std::vector<In> in_;  // by rank
  std::vector<engine::log::NodeFile> nodes_;
};

}  // namespace headrace::sidecar

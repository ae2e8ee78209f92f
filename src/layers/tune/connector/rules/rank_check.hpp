// The check that ranks keep apart: between two flushes no rank reads or writes an element that
// another one writes. `async(mpi_staging=true)` and `log(mpi_logs=rank)` promise native results to
// such programs only, so whoever switches those on can have it watched.
//
// Each rank notes which elements its reads and writes touch. When all ranks flush or close the
// file they exchange the bounds, and of datasets where those overlap the elements. What is found is
// an error of the flush or close on all ranks, which carries out what it is for all the same. Where
// a rank touches too many separate parts of a dataset, or a selection cannot be told, only bounds
// are known: overlapping ones are a warning in the log. Memory: up to kMost parts for each dataset.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>

#include "comm/communicator.hpp"
#include "engine/touched_elements.hpp"
#include "vol/dataset/elements.hpp"

namespace headrace::tune {

class RankCheck {
 public:
  // `ranks` outlive it.
  RankCheck(Communicator& ranks, std::string file) : ranks_(ranks), file_(std::move(file)) {}

  void note_read(const vol::Object& dataset, hid_t file_space) { note(dataset, file_space, false); }
  void note_write(const vol::Object& dataset, hid_t file_space) { note(dataset, file_space, true); }

  // The stored chunk with that first element.
  void note_chunk(const vol::Object& dataset, const hsize_t* origin, bool writes);
  // A new dataset: what was noted of one that is gone, and lay there, is forgotten.
  void forget(const vol::Object& dataset);

  // Collective: whether ranks have kept apart since the last call. Returns what is to be thrown on
  // all ranks; null where they have. Forgets what was noted.
  std::exception_ptr violation();

 private:
  static constexpr std::size_t kMost = 4096;

  struct Dataset {
    std::string name;
    engine::TouchedElements read;
    engine::TouchedElements written;
  };
  // By token: the same on all ranks.
  using Token = std::array<std::uint64_t, 2>;
  using Datasets = std::map<Token, Dataset>;

  void note(const vol::Object& dataset, hid_t file_space, bool writes);
  // `what`: which ranks, how and which elements.
  struct Conflict {
    int writer;
    std::string what;
  };
  std::vector<Datasets> exchange(const Datasets& noted, bool bounds, const std::set<Token>& wanted);
  [[nodiscard]] std::optional<Conflict> conflict(const std::vector<Datasets>& all,
                                                 const Token& token) const;

  Communicator& ranks_;
  std::string file_;
  Datasets datasets_;
};

}  // namespace headrace::tune

// What the connector knows of a dataset that it logs writes of.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/log/logged_writes.hpp"
#include "vol/dataset/elements.hpp"

namespace headrace::log_layout {

class LoggedFile;

// One for all handles of a dataset that were opened through one file. The application's thread
// only.
struct Dataset : vol::Elements {
  LoggedFile* file = nullptr;
  engine::Index chunk{};    // all 0 when it is contiguous
  bool fills = true;        // whether HDF5 puts something where nothing was written
  std::uint32_t place = 0;  // in the log
  bool pending = false;     // whether there is anything in the log; over MPI in this rank's
  // What that may take in the file, in bytes, counting chunks and blocks as often as rows touch
  // them.
  std::uint64_t expected = 0;

  // What is to be put on top of what HDF5 reads of it: of a log of an earlier program that is not
  // in the file yet; over MPI of the logs of ranks, as they were when they were last read.
  std::unique_ptr<engine::log::LoggedWrites> writes;

  // Over MPI.
  struct OverRanks {
    std::optional<std::string> name;  // where it had to be asked for early
    std::uint64_t made_in = 0;        // when, in flushes that kept logs; 0: not known
    // Has chunks that HDF5 codes. It keeps those in memory that this rank has `read`, and does not
    // know when ranks write them together: then they are to be read anew.
    bool filtered = false;
    bool read = false;
  };
  OverRanks over_ranks;

  // What the log holds of it that HDF5 has not got: before epoch `end`, and since.
  struct Logged {
    struct Write {
      engine::Pattern pattern;
      std::uint64_t first;
    };
    engine::log::LoggedWrites writes;
    std::uint64_t end;
    std::vector<Write> since;  // few
    bool many = false;         // have been written since, and are not all in there
    void note(engine::Pattern pattern, std::uint64_t first);
    // Whether reads of those rows may need what was written since.
    [[nodiscard]] bool may_miss(std::span<const engine::Run> rows) const;
  };
  std::optional<Logged> logged;

  // What it is written through while something is pending; null otherwise.
  vol::Object* handle = nullptr;
  // That handle when the program has closed it: it stays open below.
  std::unique_ptr<vol::Object> closed;

  // At most that, and no more than all of it takes, but for what was looked up: what HDF5 has
  // allocated, when nothing of it was in the log. `through`: any handle.
  [[nodiscard]] std::uint64_t expects() const;
  void look_up(const vol::Object& through);
  // What HDF5 keeps of it in memory is in the file. Throws Error.
  void flush();
  // What the program has closed is closed below. Throws Error when not all of it is in the file.
  void close();
  [[nodiscard]] bool chunked() const { return chunk[0] != 0; }
  // Nothing of it is in the log any more.
  void forget();

 private:
  std::optional<std::uint64_t> allocated_;  // in bytes
};

// What there is to know of an open dataset; null when its writes are not logged.
std::shared_ptr<Dataset> examine(const vol::Object& object);
// The dataset behind a handle; null when it is left to HDF5. Asks HDF5 on the first call for a
// handle only. Over MPI that call is to be when the program opens it: where metadata is read
// collectively only then do all ranks ask. Later on, and in what it makes of the answers, no rank
// waits for another. Throws Error.
Dataset* dataset_of(vol::Object& object);
// That first call, of a dataset that the program has opened, or `made`. Errors are those of later
// calls.
void ask_early(vol::Object& object, bool made) noexcept;
// A new one without a name is left to HDF5: it goes with its last handle.
void leave_to_hdf5(vol::Object& object);

// Whether a new extent is larger in the slowest dimension only, where elements keep their numbers.
bool extends_at_end(Dataset& dataset, const vol::Object& object, const hsize_t* extent);
// The same of a dataset that is known, of which the extent is.
bool grows_at_its_end(const vol::Object& object, const hsize_t* extent);

// Instead of closing a handle: it stays open below until what is pending has been written. False
// when nothing is.
bool close_behind(vol::Object& object);

}  // namespace headrace::log_layout

// The requests of one logical rank for one record: a buffer, and what goes where.
#pragma once

#include "kernels/e3sm/file.hpp"
#include "kernels/e3sm/selection.hpp"

namespace headrace::bench::e3sm {

// One per variable, one for all of them, or one per variable with arrays of boxes for the
// selection; `requests` is one per variable with the selection built as E3SM-IO does.
enum class Calls { canonical, requests, multi, boxes };

class Batch {
 public:
  // Of the variables with a time, and in the first record of all others too. `rank` has no
  // meaning unless `takes_part`; a rank that does not still makes all collective calls.
  Batch(const Plan& plan, std::size_t rank, hsize_t record, bool takes_part, bool collective);

  // Makes the data that the rank owns, or compares them. Return their bytes.
  std::uint64_t fill();
  std::uint64_t verify();
  // Builds the dataspaces, or the arrays of boxes. `records`: how many the datasets have room for
  // now.
  void select(const HistoryFile& file, Calls calls, Building building, hsize_t records);
  // Move the data, once that is done.
  void write(Run& run, const HistoryFile& file, Calls calls, hid_t dxpl);
  void read(Run& run, Calls calls, hid_t dxpl);

 private:
  struct Request {
    std::size_t field = 0;
    bool owned = false;
    std::vector<Piece> pieces;
    std::size_t begin = 0;  // bytes into the buffer
  };
  // The arguments of H5Dwrite_multi and H5Dread_multi.
  struct Arguments {
    std::vector<std::shared_ptr<const Spaces>> spaces;
    std::vector<hid_t> datasets, types, memory, files;
    std::vector<void*> buffers;
  };
  void write_boxes(const HistoryFile& file, hid_t dxpl);
  // Calls action(elements in the buffer, the variable's name, the first one's index in it) for all
  // that the rank owns; returns their bytes.
  template <typename Action>
  std::uint64_t each_piece(const Action& action);

  const Plan& plan_;
  std::size_t rank_;
  hsize_t record_;
  std::vector<Request> requests_;
  std::vector<std::byte> buffer_;
  Arguments arguments_;
  std::vector<std::shared_ptr<const Boxes>> boxes_;  // of each request; null without dimensions
};

}  // namespace headrace::bench::e3sm

// One case of iotest: its parameters, named as the INI file names them, and the shapes that follow.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/report/json.hpp"

namespace headrace::bench::iotest {

using Extent = std::vector<std::uint64_t>;  // hsize_t

struct Parameters {
  std::uint64_t steps = 20;
  std::uint64_t arrays = 500;
  std::uint64_t rows = 100;  // of a rank when weak, of all when strong
  std::uint64_t columns = 200;
  std::uint64_t process_rows = 1;
  std::uint64_t process_columns = 1;
  bool strong = false;
  std::string single_process = "posix";  // with one rank
  int dataset_rank = 2;
  bool step_first = true;
  bool chunked = false;
  bool collective = false;
  bool fill = true;  // when storage is allocated; else never
  std::string libver_low = "earliest";
  std::string libver_high = "latest";
  std::uint64_t alignment_increment = 1;  // bytes
  std::uint64_t alignment_threshold = 0;  // bytes
  std::uint64_t meta_block_size = 2048;   // bytes
  unsigned gzip = 0;                      // level; 0: none
  unsigned szip_mask = 0;
  unsigned szip_pixels = 0;  // 0: none
  bool split = false;
  std::chrono::nanoseconds delay{0};  // emulated computation of a step
  std::string hdf5_file = "data.h5";
  std::string csv;
  bool restart = false;
  std::uint64_t number = 0;  // of the case, from 1

  [[nodiscard]] bool compressed() const { return gzip > 0 || szip_pixels > 0; }
  [[nodiscard]] std::uint64_t ranks() const { return process_rows * process_columns; }
  // Of the tile of a rank.
  [[nodiscard]] std::uint64_t my_rows() const { return strong ? rows / process_rows : rows; }
  [[nodiscard]] std::uint64_t my_columns() const {
    return strong ? columns / process_columns : columns;
  }
  // Of the whole array.
  [[nodiscard]] std::uint64_t all_rows() const { return my_rows() * process_rows; }
  [[nodiscard]] std::uint64_t all_columns() const { return my_columns() * process_columns; }
  // Payload of all ranks.
  [[nodiscard]] std::uint64_t bytes() const {
    return steps * arrays * all_rows() * all_columns() * sizeof(double);
  }
  // Arrays that one call transfers: a chunk of a compressed 4-D dataset holds all of a step, and
  // would be compressed anew with each.
  [[nodiscard]] std::uint64_t arrays_at_once() const {
    return dataset_rank == 4 && compressed() ? arrays : 1;
  }

  // Letters, digits, '-', '.' and '='. Names what differs from the defaults, and so stays what it
  // is whatever other cases there are.
  [[nodiscard]] std::string name() const;
  [[nodiscard]] JsonObject json() const;
  // The dataset that array belongs to in that step, below the root.
  [[nodiscard]] std::string dataset(std::uint64_t step, std::uint64_t array) const;
  [[nodiscard]] Extent extent() const;
  // The dimensions that have no limit are those of the steps, in chunked 3-D and 4-D datasets.
  [[nodiscard]] Extent limits(std::uint64_t unlimited) const;
  [[nodiscard]] Extent chunk() const;
  // What `count` arrays of a rank from `array` on are in their dataset.
  struct Block {
    Extent start;
    Extent count;
  };
  [[nodiscard]] Block block(std::uint64_t step, std::uint64_t array, std::uint64_t count,
                            std::uint64_t rank) const;
};

}  // namespace headrace::bench::iotest

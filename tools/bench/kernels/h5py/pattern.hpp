// What the patterns of Python programs have in common: one process, one file that is filled and
// read back. Each pattern is a function below.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernel.hpp"
#include "run.hpp"

namespace headrace::bench::h5py {

struct Shape {
  std::uint64_t rows = std::uint64_t{128} << 10U;
  std::uint64_t columns = 16;
  std::uint64_t block = 1024;      // rows per call of the patterns that work in blocks
  std::uint64_t list = 256;        // rows per fancy index
  std::uint64_t slow_rows = 2048;  // of the table that is read against its chunks
  std::uint64_t slow_columns = 128;
};

class Pattern : public Workload {
 public:
  Pattern(std::string name, const Shape& shape, std::uint64_t bytes)
      : Workload(std::move(name)), shape_(shape), bytes_(bytes) {}

  [[nodiscard]] JsonObject parameters() const override;
  [[nodiscard]] std::uint64_t bytes(int /*ranks*/) const override { return bytes_; }
  void write(Run& run) final;
  void read(Run& run) final;

 protected:
  // Creates the datasets and writes them.
  virtual void fill(Run& run, hid_t file) = 0;
  // Opens them, reads them and verifies.
  virtual void drain(Run& run, hid_t file) = 0;
  [[nodiscard]] const Shape& shape() const { return shape_; }

 private:
  Shape shape_;
  std::uint64_t bytes_;
};

// `dset.resize(n + count, 0); dset[n:] = …`, `at_once` rows a time.
std::unique_ptr<Workload> append_rows(const std::string& name, const Shape& shape,
                                      std::uint64_t at_once);
// `file.create_dataset(name, data=column, compression='gzip', shuffle=True)` per column.
std::unique_ptr<Workload> gzip_columns(const Shape& shape);
// Texts of different lengths: h5py.string_dtype(), or 'S24'.
std::unique_ptr<Workload> strings(const Shape& shape, bool variable);
// Rows of a compound type, appended in blocks.
std::unique_ptr<Workload> table(const Shape& shape);
// `dset[i]` for each row of a dataset that is chunked by columns.
std::unique_ptr<Workload> rows_of_columns(const Shape& shape);
// `dset[list]` with sorted lists of random rows.
std::unique_ptr<Workload> fancy_rows(const Shape& shape);

// The chunk that h5py chooses when asked for chunks=True; an extent of 0 is one that will grow.
// https://docs.h5py.org/en/stable/high/dataset.html#chunked-storage
std::vector<hsize_t> guessed_chunk(std::vector<hsize_t> extent, std::size_t element);

// A creation property list with that chunk, and gzip with shuffle where `gzip`.
Handle chunked(const std::vector<hsize_t>& chunk, bool gzip = false);

// A dataset whose first dimension counts rows; the other one, if any, columns.
class RowDataset {
 public:
  // `extent` as in guessed_chunk(): its first is 0 for a dataset that grows.
  static RowDataset create(hid_t file, const std::string& name, hid_t type,
                           const std::vector<hsize_t>& extent, const Handle& storage);
  // Throws Error unless it has that type and extent.
  static RowDataset open(hid_t file, const std::string& name, hid_t type,
                         const std::vector<hsize_t>& extent);
  void close() { dataset_.close(); }
  void grow(hsize_t rows);
  void write(hsize_t first, hsize_t count, hid_t type, const void* data) const;
  void read(hsize_t first, hsize_t count, hid_t type, void* data) const;
  // Ascending rows, by one call.
  void read_list(std::span<const std::uint64_t> rows, hid_t type, void* data) const;

 private:
  // Rows in memory, and those selected in the file.
  [[nodiscard]] Handle memory_space(hsize_t count) const;
  [[nodiscard]] Handle file_space(hsize_t first, hsize_t count) const;

  std::string name_;
  std::vector<hsize_t> extent_;
  Handle dataset_;
};

// Calls action(first row, count) for all rows in blocks, and tells the progress.
template <typename Action>
void each_block(const Run& run, std::uint64_t rows, std::uint64_t block, const Action& action) {
  for (std::uint64_t first = 0; first < rows; first += block) {
    const std::uint64_t count = std::min(block, rows - first);
    action(first, count);
    run.progress(static_cast<double>(first + count) / static_cast<double>(rows));
  }
}

}  // namespace headrace::bench::h5py

// Small files that are opened, looked at or changed a little, and closed, again and again. Each
// case is a function below.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "kernel.hpp"
#include "run.hpp"

namespace headrace::bench::files {

struct Shape {
  std::uint64_t openings = 1000;  // of the one file of a case
  std::uint64_t files = 200;
  std::uint64_t elements = 1000;  // of each dataset
  std::uint64_t columns = 100;    // of the rows that are appended
};

class Openings : public Workload {
 public:
  Openings(std::string name, const Shape& shape) : Workload(std::move(name)), shape_(shape) {}
  [[nodiscard]] JsonObject parameters() const override;

 protected:
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] std::uint64_t dataset_bytes() const {
    return shape_.elements * sizeof(std::int64_t);
  }

 private:
  Shape shape_;
};

// One element of the file's dataset is read each time.
std::unique_ptr<Workload> open_read_close(const Shape& shape);
// One is written.
std::unique_ptr<Workload> open_write_close(const Shape& shape);
// A row is appended to a compressed dataset.
std::unique_ptr<Workload> open_append_close(const Shape& shape);
// All of the dataset is read, of a file that is opened to write and then one opened to read.
std::unique_ptr<Workload> open_close(const Shape& shape);
// As many files, of three datasets with an attribute each; one element of each file is read.
std::unique_ptr<Workload> many_small_files(const Shape& shape);

}  // namespace headrace::bench::files

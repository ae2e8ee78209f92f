// What Python programs do with h5py, call for call, in one process.
// https://docs.h5py.org/en/stable/high/dataset.html

#include "base/error.hpp"
#include "kernels/h5py/pattern.hpp"

namespace headrace::bench {
namespace h5py {
namespace {

class H5pyKernel final : public Kernel {
 public:
  void add_options(CLI::App& app) override {
    add_count(app, "--rows", shape_.rows, "Rows");
    add_count(app, "--columns", shape_.columns, "Columns of doubles");
    add_count(app, "--block", shape_.block, "Rows per call of the patterns that work in blocks");
    add_count(app, "--list", shape_.list, "Rows per list of the case fancy-rows");
    add_count(app, "--slow-rows", shape_.slow_rows, "Rows of the case rows-of-columns");
    add_count(app, "--slow-columns", shape_.slow_columns, "Columns of the case rows-of-columns");
  }
  void shrink() override { shape_ = {4096, 8, 512, 128, 256, 32}; }
  Workloads workloads(int ranks) override {
    if (ranks > 1)
      throw Error(
          "h5py: this kernel is for one process: with " + std::to_string(ranks) +
          " ranks its patterns (texts of variable length, growing row by row) are not HDF5's");
    Workloads all;
    all.push_back(append_rows("append-rows", shape_, 1));
    all.push_back(append_rows("append-blocks", shape_, shape_.block));
    all.push_back(gzip_columns(shape_));
    all.push_back(strings(shape_, true));
    all.push_back(strings(shape_, false));
    all.push_back(table(shape_));
    all.push_back(rows_of_columns(shape_));
    all.push_back(fancy_rows(shape_));
    return all;
  }

 private:
  Shape shape_;
};

}  // namespace
}  // namespace h5py

std::unique_ptr<Kernel> make_h5py() { return std::make_unique<h5py::H5pyKernel>(); }

}  // namespace headrace::bench

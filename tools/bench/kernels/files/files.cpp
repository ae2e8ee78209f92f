// Programs that open a file for each small thing that they read or write: catalogues of small
// files, instruments that append to a series, workers that are told a name.
#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "kernels/files/openings.hpp"

namespace headrace::bench {
namespace files {
namespace {

class FilesKernel final : public Kernel {
 public:
  void add_options(CLI::App& app) override {
    add_count(app, "--openings", shape_.openings, "How often the file of a case is opened");
    add_count(app, "--files", shape_.files, "Files of the case many-small-files");
    add_count(app, "--elements", shape_.elements, "Elements of a dataset, 8 bytes each");
    add_count(app, "--columns", shape_.columns, "Columns of the rows that are appended");
  }
  void shrink() override { shape_ = {20, 10, 1000, 100}; }
  Workloads workloads(int ranks) override {
    if (ranks > 1)
      throw Error("files: this kernel is for one process, which opens its files alone; " +
                  std::to_string(ranks) + " ranks would have to open each together");
    Workloads all;
    all.push_back(open_read_close(shape_));
    all.push_back(open_write_close(shape_));
    all.push_back(open_append_close(shape_));
    all.push_back(open_close(shape_));
    all.push_back(many_small_files(shape_));
    return all;
  }

 private:
  Shape shape_;
};

}  // namespace
}  // namespace files

std::unique_ptr<Kernel> make_files() { return std::make_unique<files::FilesKernel>(); }

}  // namespace headrace::bench

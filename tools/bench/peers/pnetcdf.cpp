// headrace-bench-pnetcdf: PnetCDF beside HDF5. One variable [steps, arrays, rows, columns] of
// doubles in a CDF-5 file, rows divided among the ranks; a step is written, and read, by one
// collective call. Prints the same samples as headrace-bench.
#include <mpi.h>
#include <pnetcdf.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>

#include "append.hpp"
#include "base/error.hpp"
#include "base/report/json.hpp"
#include "folder.hpp"
#include "pattern.hpp"

namespace headrace::bench {

void throw_mismatch(std::string_view where, std::uint64_t index, const std::string& expected,
                    const std::string& found) {
  throw Error("wrong data in " + std::string(where) + ", element " + std::to_string(index) +
              ": expected " + expected + ", read " + found);
}

namespace {

constexpr const char* kVariable = "data";
constexpr std::uint64_t kKey = key_of(kVariable);
constexpr std::array kDimensions{"steps", "arrays", "rows", "columns"};

struct Options {
  std::array<MPI_Offset, 4> shape{20, 50, 100, 200};  // of one rank
  std::string dir = ".";
  std::string samples;
  int repeats = 1;
  int first_repeat = 0;
};

void check(int status, const char* call) {
  if (status != NC_NOERR) throw Error(std::string(call) + ": " + ncmpi_strerror(status));
}

class Peer {
 public:
  explicit Peer(Options options)
      : options_(std::move(options)), folder_(options_.dir, "peers-pnetcdf-contiguous", false) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    path_ = folder_.place() + "/data.nc";
    buffer_.resize(
        static_cast<std::size_t>(options_.shape[1] * options_.shape[2] * options_.shape[3]));
  }

  void repeat(int number) {
    seconds_.clear();
    if (rank_ == 0) folder_.make();
    const double written = wall([&] { write(); });
    const double read_back = wall([&] { read(); });
    const std::string line = sample(number, written, read_back);
    if (rank_ == 0) {
      folder_.finish();
      folder_.remove();
      append_sample(options_.samples, line);
    }
  }

 private:
  // Seconds of the slowest rank, from barrier to barrier, less what the harness did.
  template <typename Work>
  double wall(const Work& work) {
    MPI_Barrier(MPI_COMM_WORLD);
    harness_ = 0;
    const double start = MPI_Wtime();
    work();
    return largest(MPI_Wtime() - start - harness_);
  }
  template <typename Call>
  void timed(const char* phase, const char* name, const Call& call) {
    const double start = MPI_Wtime();
    check(call(), name);
    seconds_[phase] += MPI_Wtime() - start;
  }
  template <typename Work>
  void untimed(const Work& work) {
    const double start = MPI_Wtime();
    work();
    harness_ += MPI_Wtime() - start;
  }
  static double reduced(double mine, MPI_Op how) {
    double result = 0;
    MPI_Allreduce(&mine, &result, 1, MPI_DOUBLE, how, MPI_COMM_WORLD);
    return result;
  }
  static double largest(double mine) { return reduced(mine, MPI_MAX); }

  [[nodiscard]] std::array<MPI_Offset, 4> count() const {
    return {1, options_.shape[1], options_.shape[2], options_.shape[3]};
  }
  [[nodiscard]] std::array<MPI_Offset, 4> start(MPI_Offset step) const {
    return {step, 0, rank_ * options_.shape[2], 0};
  }

  // action(rows of this rank in one array, linear index of their first element)
  template <typename Action>
  void each_array(MPI_Offset step, const Action& action) {
    const auto& [steps, arrays, rows, columns] = options_.shape;
    const auto size = static_cast<std::size_t>(rows * columns);
    for (MPI_Offset array = 0; array < arrays; ++array) {
      const MPI_Offset first =
          ((step * arrays + array) * ranks_ + rank_) * static_cast<MPI_Offset>(size);
      action(std::span(buffer_).subspan(static_cast<std::size_t>(array) * size, size),
             static_cast<std::uint64_t>(first));
    }
  }

  void write() {
    int file = -1;
    int variable = -1;
    timed("create", "ncmpi_create", [&] {
      return ncmpi_create(MPI_COMM_WORLD, path_.c_str(), NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
                          &file);
    });
    timed("create", "define", [&] { return define(file, variable); });
    for (MPI_Offset step = 0; step < options_.shape[0]; ++step) {
      untimed([&] {
        each_array(step, [](std::span<double> part, std::uint64_t first) {
          fill<double>(part, kKey, first);
        });
      });
      timed("write", "ncmpi_put_vara_double_all", [&] {
        return ncmpi_put_vara_double_all(file, variable, start(step).data(), count().data(),
                                         buffer_.data());
      });
    }
    timed("close", "ncmpi_close", [&] { return ncmpi_close(file); });
  }

  int define(int file, int& variable) const {
    std::array<int, 4> dimensions{};
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      const MPI_Offset length = options_.shape[i] * (i == 2 ? ranks_ : 1);
      check(ncmpi_def_dim(file, kDimensions[i], length, &dimensions[i]), "ncmpi_def_dim");
    }
    check(ncmpi_def_var(file, kVariable, NC_DOUBLE, 4, dimensions.data(), &variable),
          "ncmpi_def_var");
    return ncmpi_enddef(file);
  }

  void read() {
    int file = -1;
    int variable = -1;
    timed("open", "ncmpi_open", [&] {
      return ncmpi_open(MPI_COMM_WORLD, path_.c_str(), NC_NOWRITE, MPI_INFO_NULL, &file);
    });
    timed("open", "ncmpi_inq_varid", [&] { return ncmpi_inq_varid(file, kVariable, &variable); });
    for (MPI_Offset step = 0; step < options_.shape[0]; ++step) {
      timed("read", "ncmpi_get_vara_double_all", [&] {
        return ncmpi_get_vara_double_all(file, variable, start(step).data(), count().data(),
                                         buffer_.data());
      });
      untimed([&] {
        each_array(step, [](std::span<const double> part, std::uint64_t first) {
          verify<double>(part, kKey, first, kVariable);
        });
      });
    }
    timed("close_read", "ncmpi_close", [&] { return ncmpi_close(file); });
  }

  std::string sample(int number, double written, double read_back) {
    JsonObject phases;
    for (const auto& [phase, mine] : seconds_)
      phases.raw(phase, JsonObject()
                            .raw("min", std::to_string(reduced(mine, MPI_MIN)))
                            .raw("max", std::to_string(largest(mine)))
                            .str());
    JsonObject parameters;
    for (std::size_t i = 0; i < kDimensions.size(); ++i)
      parameters.number(kDimensions[i], options_.shape[i]);
    const auto payload =
        static_cast<long long>(buffer_.size() * sizeof(double)) * options_.shape[0] * ranks_;
    const auto file_size =
        rank_ == 0 ? static_cast<long long>(std::filesystem::file_size(path_)) : 0;
    return JsonObject()
        .text("kernel", "peers")
        .text("case", "pnetcdf-contiguous")
        .raw("parameters", parameters.str())
        .number("ranks", ranks_)
        .number("repeat", number)
        .boolean("warmup", false)
        .text("version", ncmpi_inq_libvers())
        .raw("phases", phases.str())
        .raw("write_wall", std::to_string(written))
        .raw("read_wall", std::to_string(read_back))
        .raw("bytes", JsonObject()
                          .number("written", payload)
                          .number("read", payload)
                          .number("file", file_size)
                          .str())
        .text("dropped", "no")
        .boolean("verified", true)
        .str();
  }

  Options options_;
  CaseFolder folder_;
  int rank_ = 0;
  int ranks_ = 1;
  std::string path_;
  std::vector<double> buffer_;
  std::map<std::string, double> seconds_;  // of this rank, by phase
  double harness_ = 0;
};

int run(int argc, char** argv) {
  CLI::App app("One 4-D variable through PnetCDF");
  Options options;
  for (std::size_t i = 0; i < kDimensions.size(); ++i)
    app.add_option(std::string("--") + kDimensions[i], options.shape[i])
        ->check(CLI::PositiveNumber);
  std::string layout = "contiguous";  // the format has no other
  app.add_option("--layout", layout)->check(CLI::IsMember({"contiguous"}));
  app.add_option("--dir", options.dir)->check(CLI::ExistingDirectory);
  app.add_option("--samples", options.samples);
  app.add_option("--repeats", options.repeats)->check(CLI::PositiveNumber);
  app.add_option("--first-repeat", options.first_repeat)->check(CLI::NonNegativeNumber);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  Peer peer(options);
  for (int i = 0; i < options.repeats; ++i) peer.repeat(options.first_repeat + i);
  return 0;
}

}  // namespace
}  // namespace headrace::bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    const int status = headrace::bench::run(argc, argv);
    MPI_Finalize();
    return status;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "headrace-bench-pnetcdf: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

// The patterns on rows and columns of doubles.
#include <algorithm>

#include "kernels/h5py/pattern.hpp"
#include "kernels/shared/order.hpp"
#include "scratch.hpp"

namespace headrace::bench::h5py {
namespace {

constexpr const char* kData = "data";
constexpr std::uint64_t kKey = key_of(kData);

std::uint64_t table_bytes(std::uint64_t rows, std::uint64_t columns) {
  return rows * columns * sizeof(double);
}

void verify_rows(Run& run, std::span<const double> data, std::uint64_t row, std::uint64_t columns) {
  run.verify<double>(data, kKey, row * columns, kData);
}

// Reads all rows of the 2-D dataset, `at_once` per call, and verifies them.
void drain_rows(Run& run, hid_t file, const std::vector<hsize_t>& extent, std::uint64_t block,
                std::uint64_t at_once) {
  RowDataset dataset =
      run.timed(Phase::open, [&] { return RowDataset::open(file, kData, H5T_IEEE_F64LE, extent); });
  const std::uint64_t columns = extent[1];
  Scratch<std::vector<double>> data(run, block * columns);
  each_block(run, extent[0], block, [&](std::uint64_t first, std::uint64_t count) {
    run.untimed([&] { std::ranges::fill(*data, -1); });
    run.timed(Phase::read, [&] {
      for (std::uint64_t row = 0; row < count; row += at_once)
        dataset.read(first + row, std::min(at_once, count - row), H5T_NATIVE_DOUBLE,
                     data->data() + row * columns);
    });
    run.has_read(table_bytes(count, columns));
    verify_rows(run, std::span(*data).first(count * columns), first, columns);
    run.compute();
  });
  run.timed(Phase::close_read, [&] { dataset.close(); });
}

class AppendRows final : public Pattern {
 public:
  AppendRows(const std::string& name, const Shape& shape, std::uint64_t at_once)
      : Pattern(name, shape, table_bytes(shape.rows, shape.columns)), at_once_(at_once) {}

 protected:
  void fill(Run& run, hid_t file) override {
    const std::uint64_t columns = shape().columns;
    RowDataset dataset = run.timed(Phase::create, [&] {
      return RowDataset::create(file, kData, H5T_IEEE_F64LE, {0, columns},
                                chunked(guessed_chunk({0, columns}, sizeof(double))));
    });
    Scratch<std::vector<double>> data(run, shape().block * columns);
    each_block(run, shape().rows, shape().block, [&](std::uint64_t first, std::uint64_t count) {
      run.fill<double>(std::span(*data).first(count * columns), kKey, first * columns);
      run.timed(Phase::write, [&] {
        for (std::uint64_t row = 0; row < count; row += at_once_) {
          const std::uint64_t rows = std::min(at_once_, count - row);
          dataset.grow(first + row + rows);
          dataset.write(first + row, rows, H5T_NATIVE_DOUBLE, data->data() + row * columns);
        }
      });
      run.wrote(table_bytes(count, columns));
      run.compute();
    });
    run.timed(Phase::close, [&] { dataset.close(); });
  }
  void drain(Run& run, hid_t file) override {
    drain_rows(run, file, {shape().rows, shape().columns}, shape().block, shape().block);
  }

 private:
  std::uint64_t at_once_;
};

class GzipColumns final : public Pattern {
 public:
  explicit GzipColumns(const Shape& shape)
      : Pattern("gzip-columns", shape, table_bytes(shape.rows, shape.columns)) {}

 protected:
  void fill(Run& run, hid_t file) override {
    Scratch<std::vector<double>> data(run, shape().rows);
    each_block(run, shape().columns, 1, [&](std::uint64_t column, std::uint64_t /*one*/) {
      const std::string name = name_of(column);
      run.fill<double>(*data, key_of(name), 0, Texture::smooth);
      RowDataset dataset = run.timed(Phase::create, [&] {
        return RowDataset::create(file, name, H5T_IEEE_F64LE, {shape().rows},
                                  chunked(guessed_chunk({shape().rows}, sizeof(double)), true));
      });
      run.timed(Phase::write,
                [&] { dataset.write(0, shape().rows, H5T_NATIVE_DOUBLE, data->data()); });
      run.wrote(data->size() * sizeof(double));
      run.timed(Phase::close, [&] { dataset.close(); });
      run.compute();
    });
  }
  void drain(Run& run, hid_t file) override {
    Scratch<std::vector<double>> data(run, shape().rows);
    each_block(run, shape().columns, 1, [&](std::uint64_t column, std::uint64_t /*one*/) {
      const std::string name = name_of(column);
      run.untimed([&] { std::ranges::fill(*data, -1); });
      RowDataset dataset = run.timed(Phase::open, [&] {
        return RowDataset::open(file, name, H5T_IEEE_F64LE, {shape().rows});
      });
      run.timed(Phase::read,
                [&] { dataset.read(0, shape().rows, H5T_NATIVE_DOUBLE, data->data()); });
      run.has_read(data->size() * sizeof(double));
      run.verify<double>(*data, key_of(name), 0, name, Texture::smooth);
      run.timed(Phase::close_read, [&] { dataset.close(); });
      run.compute();
    });
  }

 private:
  static std::string name_of(std::uint64_t column) { return "column_" + std::to_string(column); }
};

class RowsOfColumns final : public Pattern {
 public:
  explicit RowsOfColumns(const Shape& shape)
      : Pattern("rows-of-columns", shape, table_bytes(shape.slow_rows, shape.slow_columns)) {}

 protected:
  // All at once, as h5py writes an array it is given.
  void fill(Run& run, hid_t file) override {
    Scratch<std::vector<double>> data(run, shape().slow_rows * shape().slow_columns);
    run.fill<double>(*data, kKey, 0);
    RowDataset dataset = run.timed(Phase::create, [&] {
      return RowDataset::create(file, kData, H5T_IEEE_F64LE, extent(),
                                chunked({shape().slow_rows, 1}));
    });
    run.timed(Phase::write,
              [&] { dataset.write(0, shape().slow_rows, H5T_NATIVE_DOUBLE, data->data()); });
    run.wrote(data->size() * sizeof(double));
    run.compute();
    run.timed(Phase::close, [&] { dataset.close(); });
  }
  void drain(Run& run, hid_t file) override {
    constexpr std::uint64_t kBetweenChecks = 64;
    drain_rows(run, file, extent(), std::min(kBetweenChecks, shape().slow_rows), 1);
  }

 private:
  [[nodiscard]] std::vector<hsize_t> extent() const {
    return {shape().slow_rows, shape().slow_columns};
  }
};

class FancyRows final : public Pattern {
 public:
  explicit FancyRows(const Shape& shape)
      : Pattern("fancy-rows", shape, table_bytes(shape.rows, shape.columns)) {}

 protected:
  void fill(Run& run, hid_t file) override {
    const std::uint64_t columns = shape().columns;
    RowDataset dataset = run.timed(Phase::create, [&] {
      return RowDataset::create(file, kData, H5T_IEEE_F64LE, extent(),
                                chunked(guessed_chunk(extent(), sizeof(double))));
    });
    Scratch<std::vector<double>> data(run, shape().block * columns);
    each_block(run, shape().rows, shape().block, [&](std::uint64_t first, std::uint64_t count) {
      run.fill<double>(std::span(*data).first(count * columns), kKey, first * columns);
      run.timed(Phase::write,
                [&] { dataset.write(first, count, H5T_NATIVE_DOUBLE, data->data()); });
      run.wrote(table_bytes(count, columns));
      run.compute();
    });
    run.timed(Phase::close, [&] { dataset.close(); });
  }

  // Every row is in one of the lists.
  void drain(Run& run, hid_t file) override {
    const std::uint64_t columns = shape().columns;
    Scratch<std::vector<std::uint64_t>> order(run);
    run.untimed([&] { *order = shuffled(shape().rows, kKey, 0); });
    RowDataset dataset = run.timed(
        Phase::open, [&] { return RowDataset::open(file, kData, H5T_IEEE_F64LE, extent()); });
    Scratch<std::vector<double>> data(run, shape().list * columns);
    each_block(run, shape().rows, shape().list, [&](std::uint64_t first, std::uint64_t count) {
      const std::span<std::uint64_t> rows = std::span(*order).subspan(first, count);
      run.untimed([&] {
        std::ranges::sort(rows);
        std::ranges::fill(*data, -1);
      });
      run.timed(Phase::read, [&] { dataset.read_list(rows, H5T_NATIVE_DOUBLE, data->data()); });
      run.has_read(table_bytes(count, columns));
      run.untimed([&] {
        for (std::size_t i = 0; i < count; ++i)
          bench::verify<double>(std::span<const double>(*data).subspan(i * columns, columns), kKey,
                                rows[i] * columns, kData);
      });
      run.compute();
    });
    run.timed(Phase::close_read, [&] { dataset.close(); });
  }

 private:
  [[nodiscard]] std::vector<hsize_t> extent() const { return {shape().rows, shape().columns}; }
};

}  // namespace

std::unique_ptr<Workload> append_rows(const std::string& name, const Shape& shape,
                                      std::uint64_t at_once) {
  return std::make_unique<AppendRows>(name, shape, at_once);
}
std::unique_ptr<Workload> gzip_columns(const Shape& shape) {
  return std::make_unique<GzipColumns>(shape);
}
std::unique_ptr<Workload> rows_of_columns(const Shape& shape) {
  return std::make_unique<RowsOfColumns>(shape);
}
std::unique_ptr<Workload> fancy_rows(const Shape& shape) {
  return std::make_unique<FancyRows>(shape);
}

}  // namespace headrace::bench::h5py

// Output of a seismic simulation, after SW4 and the EQSIM pattern of h5bench: time series of a
// volume, image slices, checkpoints. https://github.com/geodynamics/sw4
#include <algorithm>

#include "base/error.hpp"
#include "kernel.hpp"
#include "kernels/sw4/file.hpp"
#include "scratch.hpp"

namespace headrace::bench {
namespace {

using sw4::Cells;
using sw4::Item;
using sw4::Slab;

struct Shape {
  std::uint64_t nx = 160;
  std::uint64_t ny = 160;
  std::uint64_t nz = 40;
  std::uint64_t cycles = 16;
  std::uint64_t interval = 1;
  std::uint64_t images = 20;
  std::uint64_t gzip = 1;  // level
};

enum class Kind { time_series, compressed, image, checkpoint };
constexpr std::uint64_t kMostGzip = 9;

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::time_series:
      return "timeseries";
    case Kind::compressed:
      return "timeseries-gzip";
    case Kind::image:
      return "image";
    case Kind::checkpoint:
      break;
  }
  return "checkpoint";
}

class Sw4 final : public Workload {
 public:
  Sw4(Kind kind, const Shape& shape)
      : Workload(name_of(kind)), kind_(kind), shape_(shape), grid_{shape.nx, shape.ny, shape.nz} {}

  [[nodiscard]] JsonObject parameters() const override {
    JsonObject all;
    all.number("nx", static_cast<long long>(shape_.nx))
        .number("ny", static_cast<long long>(shape_.ny))
        .number("nz", static_cast<long long>(shape_.nz));
    if (is_series()) all.number("cycles", static_cast<long long>(shape_.cycles));
    if (is_series()) all.number("interval", static_cast<long long>(shape_.interval));
    if (kind_ == Kind::compressed) all.number("gzip", static_cast<long long>(shape_.gzip));
    if (kind_ == Kind::image) all.number("images", static_cast<long long>(shape_.images));
    return all;
  }
  [[nodiscard]] std::uint64_t bytes(int /*ranks*/) const override {
    std::uint64_t sum = 0;
    for (const Item& item : all_items()) {
      std::uint64_t size = item.element_size();
      for (const hsize_t length : item.shape(grid_)) size *= length;
      sum += size;
    }
    return sum;
  }

  void write(Run& run) override {
    Files files = run.timed(Phase::create, [&] {
      const sw4::Chunks chunks = make_chunks(run.ranks());
      run.world().on_first(
          [&] { sw4::create_file(run.file(), all_items(), grid_, chunks, is_series()); });
      return open(run, H5F_ACC_RDWR);
    });
    for (std::uint64_t step = 0; step < steps(); ++step) {
      each_item(run, step, [&](std::size_t number, const Item& item, const Slab& slab) {
        if (item.wide)
          write_item<double>(run, files, number, item, slab);
        else
          write_item<float>(run, files, number, item, slab);
      });
      run.compute();
      run.progress(static_cast<double>(step + 1) / static_cast<double>(steps()));
    }
    run.timed(Phase::flush, [&] { check(H5Fflush(files.file.get(), H5F_SCOPE_LOCAL), "flush"); });
    run.timed(Phase::close, [&] { files.close(); });
  }

  void read(Run& run) override {
    Files files = run.timed(Phase::open, [&] { return open(run, H5F_ACC_RDONLY); });
    for (std::uint64_t step = 0; step < steps(); ++step) {
      each_item(run, step, [&](std::size_t number, const Item& item, const Slab& slab) {
        if (item.wide)
          read_item<double>(run, files, number, item, slab);
        else
          read_item<float>(run, files, number, item, slab);
      });
      run.progress(static_cast<double>(step + 1) / static_cast<double>(steps()));
    }
    run.timed(Phase::close_read, [&] { files.close(); });
  }

 private:
  struct Files {
    Handle file;
    std::vector<Handle> datasets;

    void close() {
      for (Handle& dataset : datasets) dataset.close();
      file.close();
    }
  };

  [[nodiscard]] bool is_series() const {
    return kind_ == Kind::time_series || kind_ == Kind::compressed;
  }
  [[nodiscard]] Texture texture() const {
    return kind_ == Kind::compressed ? Texture::smooth : Texture::random;
  }
  [[nodiscard]] std::uint64_t steps() const {
    if (is_series()) return shape_.cycles / shape_.interval;
    return kind_ == Kind::image ? shape_.images : 1;
  }

  // Those of one step; in a time series they are the same in all.
  [[nodiscard]] std::vector<Item> items(std::uint64_t step) const {
    std::vector<Item> all;
    for (int i = 0; i < 3; ++i) {
      const std::string component = std::to_string(i);
      if (is_series()) {
        all.push_back({"vel_" + component + " ijk layout", shape_.cycles});
      } else if (kind_ == Kind::image) {
        const std::string plane = std::string(1, static_cast<char>('x' + i)) + "-plane";
        all.push_back({"image_" + std::to_string(step) + '/' + plane, 0, i});
      } else {
        all.push_back({"Um_" + component, 0, -1, true});
        all.push_back({"U_" + component, 0, -1, true});
      }
    }
    return all;
  }
  [[nodiscard]] std::vector<Item> all_items() const {
    std::vector<Item> all;
    for (std::uint64_t step = 0; step < (is_series() ? 1 : steps()); ++step)
      for (Item& item : items(step)) all.push_back(std::move(item));
    return all;
  }

  // As SW4 does it: of the largest window, cut to a multiple of four.
  [[nodiscard]] sw4::Chunks make_chunks(int ranks) const {
    if (kind_ != Kind::compressed) return {};
    std::vector<hsize_t> shape{shape_.interval, 1, 1, shape_.nz};
    for (int rank = 0; rank < ranks; ++rank) {
      const Slab window = sw4::window(grid_, rank, ranks);
      for (std::size_t d = 0; d < 2; ++d) shape[d + 1] = std::max(shape[d + 1], window.count[d]);
    }
    for (std::size_t d = 1; d < 3; ++d)
      if (shape[d] > 4) shape[d] = shape[d] / 4 * 4;
    return {shape, static_cast<unsigned>(shape_.gzip)};
  }

  [[nodiscard]] Files open(Run& run, unsigned how) const {
    Files files;
    const Handle fapl = run.fapl();
    files.file =
        Handle(H5Fopen(run.file().c_str(), how, fapl.get()), H5Fclose, "open " + run.file());
    for (const Item& item : all_items()) {
      files.datasets.emplace_back(H5Dopen2(files.file.get(), item.path.c_str(), H5P_DEFAULT),
                                  H5Dclose, "open dataset " + item.path);
      check_dataset(files.datasets.back(), item);
    }
    return files;
  }

  void check_dataset(const Handle& dataset, const Item& item) const {
    const Handle space(H5Dget_space(dataset.get()), H5Sclose, "dataspace");
    const Handle type(H5Dget_type(dataset.get()), H5Tclose, "type");
    std::vector<hsize_t> found(
        static_cast<std::size_t>(check(H5Sget_simple_extent_ndims(space.get()), "dataspace")));
    check(H5Sget_simple_extent_dims(space.get(), found.data(), nullptr), "dataspace");
    const hid_t wanted = item.wide ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
    if (found != item.shape(grid_) || check(H5Tequal(type.get(), wanted), "compare types") == 0)
      throw Error("dataset " + item.path + " has another type or shape than was written");
  }

  // Calls action(the dataset's place in Files, the item, this rank's part of it) in a step.
  template <typename Action>
  void each_item(Run& run, std::uint64_t step, const Action& action) const {
    const Slab window = sw4::window(grid_, run.rank(), run.ranks());
    const std::vector<Item> now = items(step);
    for (std::size_t i = 0; i < now.size(); ++i) {
      const std::size_t number = is_series() ? i : step * now.size() + i;
      action(number, now[i], now[i].part(grid_, window, step * shape_.interval, shape_.interval));
    }
  }

  // Calls move(memory space, file space, transfer list); collective, also without a part in it.
  template <typename Move>
  void move_slab(Run& run, const Item& item, const Slab& slab, const Move& move) const {
    const std::vector<hsize_t> shape = item.shape(grid_);
    const hsize_t count = std::max<hsize_t>(slab.elements(), 1);
    const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                       H5Sclose, "dataspace");
    const Handle memory(H5Screate_simple(1, &count, nullptr), H5Sclose, "dataspace");
    if (slab.empty()) {
      check(H5Sselect_none(space.get()), "select nothing");
      check(H5Sselect_none(memory.get()), "select nothing");
    } else {
      check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, slab.start.data(), nullptr,
                                slab.count.data(), nullptr),
            "select");
    }
    const Handle dxpl = run.dxpl(true);
    move(memory.get(), space.get(), dxpl.get());
    run.transferred(dxpl.get());
  }

  template <typename T>
  static hid_t native() {
    return sizeof(T) == sizeof(float) ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
  }

  template <typename T>
  void write_item(Run& run, const Files& files, std::size_t number, const Item& item,
                  const Slab& slab) {
    Scratch<std::vector<T>> data(run, slab.elements() + 1);
    run.untimed([&] {
      T* next = data->data();
      sw4::each_row(item.shape(grid_), slab, [&](hsize_t first, hsize_t count) {
        bench::fill<T>({next, count}, key_of(item.path), first, texture());
        next += count;
      });
    });
    run.timed(Phase::write, [&] {
      move_slab(run, item, slab, [&](hid_t memory, hid_t space, hid_t dxpl) {
        check(
            H5Dwrite(files.datasets[number].get(), native<T>(), memory, space, dxpl, data->data()),
            "write " + item.path);
      });
    });
    run.wrote(slab.elements() * sizeof(T));
  }

  template <typename T>
  void read_item(Run& run, const Files& files, std::size_t number, const Item& item,
                 const Slab& slab) {
    Scratch<std::vector<T>> data(run, slab.elements() + 1);
    run.timed(Phase::read, [&] {
      move_slab(run, item, slab, [&](hid_t memory, hid_t space, hid_t dxpl) {
        check(H5Dread(files.datasets[number].get(), native<T>(), memory, space, dxpl, data->data()),
              "read " + item.path);
      });
    });
    run.untimed([&] {
      const T* next = data->data();
      sw4::each_row(item.shape(grid_), slab, [&](hsize_t first, hsize_t count) {
        bench::verify<T>({next, count}, key_of(item.path), first, item.path, texture());
        next += count;
      });
    });
    run.has_read(slab.elements() * sizeof(T));
  }

  Kind kind_;
  Shape shape_;
  Cells grid_;
};

class Sw4Kernel final : public Kernel {
 public:
  void add_options(CLI::App& app) override {
    add_count(app, "--nx", shape_.nx, "Cells along x");
    add_count(app, "--ny", shape_.ny, "Cells along y");
    add_count(app, "--nz", shape_.nz, "Cells along z");
    add_count(app, "--cycles", shape_.cycles, "Cycles of a time series");
    add_count(app, "--interval", shape_.interval, "Cycles per write and, compressed, per chunk");
    add_count(app, "--images", shape_.images, "Images, three planes each");
    add_count(app, "--gzip", shape_.gzip, "Level of the compressed time series, 1 to 9");
  }
  void shrink() override { shape_ = {32, 32, 16, 6, 1, 4, 1}; }
  Workloads workloads(int ranks) override {
    constexpr std::uint64_t kMost = 1U << 20U;
    if (std::max({shape_.nx, shape_.ny, shape_.nz, shape_.cycles, shape_.images}) > kMost)
      throw Error("sw4: no option may be larger than 1Mi");
    if (shape_.cycles % shape_.interval != 0)
      throw Error("sw4: --cycles must be a multiple of --interval");
    if (shape_.gzip > kMostGzip) throw Error("sw4: --gzip is a level from 1 to 9");
    for (int rank = 0; rank < ranks; ++rank)
      if (sw4::window({shape_.nx, shape_.ny, shape_.nz}, rank, ranks).empty())
        throw Error("sw4: --nx and --ny leave nothing for rank " + std::to_string(rank));
    Workloads all;
    for (const Kind kind : {Kind::time_series, Kind::compressed, Kind::image, Kind::checkpoint})
      all.push_back(std::make_unique<Sw4>(kind, shape_));
    return all;
  }

 private:
  Shape shape_;
};

}  // namespace

std::unique_ptr<Kernel> make_sw4() { return std::make_unique<Sw4Kernel>(); }

}  // namespace headrace::bench

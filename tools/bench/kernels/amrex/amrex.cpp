// Plotfiles of block-structured adaptive meshes, as AMReX's WriteMultiLevelPlotfileHDF5SingleDset
// writes them. https://amrex-codes.github.io/amrex/docs_html/IO.html

#include "base/error.hpp"
#include "kernel.hpp"
#include "kernels/amrex/header.hpp"
#include "scratch.hpp"

namespace headrace::bench {
namespace {

using amrex::Box;
using amrex::Level;

struct Shape {
  std::uint64_t domain = 128;  // cells a side
  std::uint64_t max_grid = 32;
  std::uint64_t components = 6;
  std::uint64_t levels = 3;
  std::uint64_t plotfiles = 2;
};

constexpr const char* kData = "data:datatype=0";

class Amrex final : public Workload {
 public:
  // `tuned`: alignment and metadata blocks as AMReX sets them.
  Amrex(std::string name, const Shape& shape, std::uint64_t levels, bool tuned)
      : Workload(std::move(name)),
        shape_(shape),
        levels_(static_cast<int>(levels)),
        tuned_(tuned) {}

  [[nodiscard]] JsonObject parameters() const override {
    JsonObject all;
    all.number("domain", static_cast<long long>(shape_.domain))
        .number("max_grid", static_cast<long long>(shape_.max_grid))
        .number("components", static_cast<long long>(shape_.components))
        .number("levels", levels_)
        .number("plotfiles", static_cast<long long>(shape_.plotfiles))
        .boolean("tuned", tuned_);
    return all;
  }
  [[nodiscard]] std::uint64_t bytes(int /*ranks*/) const override {
    return shape_.domain * shape_.domain * shape_.domain * shape_.components * sizeof(double) *
           static_cast<std::uint64_t>(levels_) * shape_.plotfiles;
  }

  void write(Run& run) override {
    Scratch<std::vector<Level>> levels(run);
    run.untimed([&] { *levels = make_levels(run.ranks()); });
    for (std::uint64_t plot = 0; plot < shape_.plotfiles; ++plot) {
      write_plotfile(run, *levels, plot);
      run.compute();
      run.progress(static_cast<double>(plot + 1) / static_cast<double>(shape_.plotfiles));
    }
  }

  void read(Run& run) override {
    Scratch<std::vector<Level>> levels(run);
    run.untimed([&] { *levels = make_levels(run.ranks()); });
    for (std::uint64_t plot = 0; plot < shape_.plotfiles; ++plot) {
      const std::string path = path_of(run, plot);
      Handle file = run.timed(Phase::open, [&] { return open(run, path, H5F_ACC_RDONLY); });
      for (int i = 0; i < levels_; ++i)
        read_level(run, file.get(), (*levels)[static_cast<std::size_t>(i)], i, plot);
      run.timed(Phase::close_read, [&] { file.close(); });
      run.progress(static_cast<double>(plot + 1) / static_cast<double>(shape_.plotfiles));
    }
  }

 private:
  [[nodiscard]] std::vector<Level> make_levels(int ranks) const {
    std::vector<Level> all;
    all.reserve(static_cast<std::size_t>(levels_));
    for (int i = 0; i < levels_; ++i)
      all.push_back(amrex::make_level(i, static_cast<std::int32_t>(shape_.domain),
                                      static_cast<std::int32_t>(shape_.max_grid),
                                      static_cast<int>(shape_.components), ranks));
    return all;
  }

  static std::string path_of(Run& run, std::uint64_t plot) {
    return plot == 0 ? run.file() : run.file("data-" + std::to_string(plot) + ".h5");
  }

  [[nodiscard]] Handle open(Run& run, const std::string& path, unsigned how) const {
    constexpr hsize_t kAlignment = hsize_t{16} << 20U;
    constexpr hsize_t kMetadataBlock = hsize_t{4} << 20U;
    const Handle fapl = run.fapl();
    if (tuned_) {
      check(H5Pset_alignment(fapl.get(), kAlignment, kAlignment), "alignment");
      check(H5Pset_meta_block_size(fapl.get(), kMetadataBlock), "metadata block size");
      using Collective = herr_t(hid_t, hbool_t);
      if (run.world().parallel())
        for (const char* name : {"H5Pset_coll_metadata_write", "H5Pset_all_coll_metadata_ops"})
          check(reinterpret_cast<Collective*>(hdf5_function(name))(fapl.get(), true), name);
    }
    return {H5Fopen(path.c_str(), how, fapl.get()), H5Fclose, "open " + path};
  }

  static std::string group_of(int level) { return "level_" + std::to_string(level); }

  // A cell's value depends on its component and its place in the domain, so that a box in a wrong
  // place is found.
  template <typename Row>
  void each_row(const Level& level, int number, std::uint64_t plot, int rank, double* data,
                const Row& row) const {
    const auto side = static_cast<std::uint64_t>(level.domain);
    const auto mine = static_cast<std::size_t>(rank);
    for (std::size_t b = level.first_boxes[mine]; b < level.first_boxes[mine + 1]; ++b) {
      const Box& box = level.boxes[b];
      const auto width =
          static_cast<std::size_t>(box.high[0]) - static_cast<std::size_t>(box.low[0]) + 1;
      for (std::uint64_t c = 0; c < shape_.components; ++c) {
        const std::uint64_t key =
            key_of(std::to_string(plot) + '/' + group_of(number) + '/' + std::to_string(c));
        for (auto k = static_cast<std::uint64_t>(box.low[2]);
             k <= static_cast<std::uint64_t>(box.high[2]); ++k)
          for (auto j = static_cast<std::uint64_t>(box.low[1]);
               j <= static_cast<std::uint64_t>(box.high[1]); ++j, data += width)
            row(std::span<double>(data, width), key,
                (k * side + j) * side + static_cast<std::uint64_t>(box.low[0]));
      }
    }
  }

  void write_plotfile(Run& run, const std::vector<Level>& levels, std::uint64_t plot) {
    const std::string path = path_of(run, plot);
    Handle file = run.timed(Phase::create, [&] {
      run.world().on_first([&] {
        amrex::write_header(path, levels, static_cast<int>(shape_.components),
                            static_cast<double>(plot));
      });
      return open(run, path, H5F_ACC_RDWR);
    });
    for (int i = 0; i < levels_; ++i)
      write_level(run, file.get(), levels[static_cast<std::size_t>(i)], i, plot);
    run.timed(Phase::flush, [&] { check(H5Fflush(file.get(), H5F_SCOPE_LOCAL), "flush"); });
    run.timed(Phase::close, [&] { file.close(); });
  }

  // Rank 0 writes what tells of the boxes; returns the dataset for the data.
  static Handle create_level(Run& run, hid_t group, const Level& level) {
    const auto small = [&](const char* name, hid_t type, hsize_t count, const void* values) {
      const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose, "dataspace");
      Handle dataset(
          H5Dcreate2(group, name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
          H5Dclose, std::string("create ") + name);
      if (run.rank() == 0)
        check(H5Dwrite(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values),
              std::string("write ") + name);
      dataset.close();
    };
    const std::vector<std::int32_t> centers(3 * level.boxes.size());  // of cells, all of them
    small("boxes", amrex::box_type().get(), level.boxes.size(), level.boxes.data());
    small("data:offsets=0", H5T_NATIVE_LLONG, level.offsets.size(), level.offsets.data());
    small("boxcenter", amrex::center_type().get(), level.boxes.size(), centers.data());
    const Handle dcpl(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "creation property list");
    check(H5Pset_fill_time(dcpl.get(), H5D_FILL_TIME_NEVER), "fill time");
    check(H5Pset_alloc_time(dcpl.get(),
                            run.world().parallel() ? H5D_ALLOC_TIME_EARLY : H5D_ALLOC_TIME_INCR),
          "allocation time");
    const auto size = static_cast<hsize_t>(level.offsets.back());
    const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, "dataspace");
    return {H5Dcreate2(group, kData, H5T_NATIVE_DOUBLE, space.get(), H5P_DEFAULT, dcpl.get(),
                       H5P_DEFAULT),
            H5Dclose, std::string("create ") + kData};
  }

  // Calls move(memory space, file space, transfer list) with this rank's slab selected.
  template <typename Move>
  static void move_slab(Run& run, const Level& level, const Move& move) {
    const auto size = static_cast<hsize_t>(level.offsets.back());
    const hsize_t first = level.begin(run.rank());
    const hsize_t count = level.count(run.rank());
    const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, "dataspace");
    const Handle memory(H5Screate_simple(1, &count, nullptr), H5Sclose, "dataspace");
    if (count == 0)
      check(H5Sselect_none(space.get()), "select nothing");
    else
      check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &first, nullptr, &count, nullptr),
            "select");
    const Handle dxpl = run.dxpl(true);
    move(memory.get(), space.get(), dxpl.get());
    run.transferred(dxpl.get());
  }

  void write_level(Run& run, hid_t file, const Level& level, int number, std::uint64_t plot) {
    Scratch<std::vector<double>> data(run, level.count(run.rank()));
    run.untimed([&] {
      each_row(level, number, plot, run.rank(), data->data(),
               [](std::span<double> row, std::uint64_t key, std::uint64_t first) {
                 bench::fill<double>(row, key, first);
               });
    });
    const std::string name = group_of(number);
    Handle group;
    Handle dataset;
    run.timed(Phase::create, [&] {
      group = Handle(H5Gopen2(file, name.c_str(), H5P_DEFAULT), H5Gclose, "open group " + name);
      dataset = create_level(run, group.get(), level);
    });
    run.timed(Phase::write, [&] {
      move_slab(run, level, [&](hid_t memory, hid_t space, hid_t dxpl) {
        check(H5Dwrite(dataset.get(), H5T_NATIVE_DOUBLE, memory, space, dxpl, data->data()),
              "write " + name + '/' + kData);
      });
      dataset.close();
      group.close();
    });
    run.wrote(data->size() * sizeof(double));
  }

  // What tells of the boxes, in memory, with room for as much as was written.
  struct Boxes {
    explicit Boxes(const Level& level)
        : boxes(level.boxes.size()),
          offsets(level.offsets.size()),
          centers(3 * level.boxes.size(), -1) {}
    // Throws Error unless they are those that were written.
    void verify(const Level& level, const std::string& name) const {
      if (boxes != level.boxes) throw Error("wrong data in " + name + "/boxes");
      if (offsets != level.offsets) throw Error("wrong data in " + name + "/data:offsets=0");
      if (centers != std::vector<std::int32_t>(centers.size()))
        throw Error("wrong data in " + name + "/boxcenter");
    }

    std::vector<Box> boxes;
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> centers;
  };

  // All ranks read them.
  static void read_boxes(hid_t group, const std::string& name, Boxes& found) {
    const auto read = [&](const char* dataset_name, hid_t type, std::size_t count, void* values) {
      const std::string what = name + '/' + dataset_name;
      const Handle dataset(H5Dopen2(group, dataset_name, H5P_DEFAULT), H5Dclose, "open " + what);
      const Handle space(H5Dget_space(dataset.get()), H5Sclose, "dataspace");
      if (check(H5Sget_simple_extent_npoints(space.get()), "dataspace") !=
          static_cast<hssize_t>(count))
        throw Error(what + " has another length than was written");
      check(H5Dread(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "read " + what);
    };
    read("boxes", amrex::box_type().get(), found.boxes.size(), found.boxes.data());
    read("data:offsets=0", H5T_NATIVE_LLONG, found.offsets.size(), found.offsets.data());
    read("boxcenter", amrex::center_type().get(), found.boxes.size(), found.centers.data());
  }

  void read_level(Run& run, hid_t file, const Level& level, int number, std::uint64_t plot) {
    const std::string name = group_of(number);
    Scratch<Boxes> boxes(run, level);
    Scratch<std::vector<double>> data(run, level.count(run.rank()));
    run.timed(Phase::read, [&] {
      const Handle group(H5Gopen2(file, name.c_str(), H5P_DEFAULT), H5Gclose, "open group " + name);
      read_boxes(group.get(), name, *boxes);
      const Handle dataset(H5Dopen2(group.get(), kData, H5P_DEFAULT), H5Dclose,
                           "open " + name + '/' + kData);
      move_slab(run, level, [&](hid_t memory, hid_t space, hid_t dxpl) {
        check(H5Dread(dataset.get(), H5T_NATIVE_DOUBLE, memory, space, dxpl, data->data()),
              "read " + name + '/' + kData);
      });
    });
    run.untimed([&] {
      boxes->verify(level, name);
      each_row(level, number, plot, run.rank(), data->data(),
               [&](std::span<const double> row, std::uint64_t key, std::uint64_t first) {
                 bench::verify<double>(row, key, first, name + '/' + kData);
               });
    });
    run.has_read(data->size() * sizeof(double));
  }

  Shape shape_;
  int levels_;
  bool tuned_;
};

class AmrexKernel final : public Kernel {
 public:
  void add_options(CLI::App& app) override {
    add_count(app, "--domain", shape_.domain, "Cells of level 0 along each side");
    add_count(app, "--max-grid", shape_.max_grid, "Cells of a box along each side");
    add_count(app, "--components", shape_.components, "Values a cell");
    add_count(app, "--levels", shape_.levels, "Levels of the multi-level cases");
    add_count(app, "--plotfiles", shape_.plotfiles, "Files, one after the other");
  }
  void shrink() override {
    shape_.domain = 32;
    shape_.max_grid = 16;
    shape_.components = 2;
    shape_.levels = 2;
  }
  Workloads workloads(int /*ranks*/) override {
    constexpr std::uint64_t kMostLevels = 10;
    constexpr std::uint64_t kMostCells = 1U << 20U;
    if (shape_.domain % shape_.max_grid != 0 || shape_.domain % 2 != 0)
      throw Error("amrex: --domain must be even and a multiple of --max-grid");
    if (shape_.levels > kMostLevels || shape_.domain > kMostCells)
      throw Error("amrex: at most 10 levels, and 1Mi cells a side");
    if (shape_.components > kMostCells) throw Error("amrex: at most 1Mi components");
    Workloads all;
    for (const bool tuned : {false, true}) {
      const std::string suffix = tuned ? "-aligned" : "-default";
      all.push_back(std::make_unique<Amrex>("single" + suffix, shape_, 1, tuned));
      if (shape_.levels > 1)
        all.push_back(std::make_unique<Amrex>("multi" + suffix, shape_, shape_.levels, tuned));
    }
    return all;
  }

 private:
  Shape shape_;
};

}  // namespace

std::unique_ptr<Kernel> make_amrex() { return std::make_unique<AmrexKernel>(); }

}  // namespace headrace::bench

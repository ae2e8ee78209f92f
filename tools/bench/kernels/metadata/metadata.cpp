// Many small groups, datasets and attributes: created, listed, and read by their paths, as
// programs do that keep their parameters and catalogues in HDF5.

#include "base/error.hpp"
#include "kernel.hpp"
#include "kernels/metadata/tree.hpp"
#include "kernels/shared/order.hpp"
#include "scratch.hpp"

namespace headrace::bench::metadata {
namespace {

struct Variant {
  bool latest;  // the format of HDF5 1.14, which all libraries here know
  bool compact;
  Writers writers;
};

std::string name_of(const Variant& variant, bool alone) {
  std::string name = variant.latest ? "latest" : "default";
  name += variant.compact ? "-compact" : "-contiguous";
  if (alone) return name;
  if (variant.writers == Writers::same) return name + "-same";
  return name + (variant.writers == Writers::one ? "-one" : "-each");
}

class Metadata final : public Workload {
 public:
  Metadata(const Variant& variant, const Shape& shape, bool alone)
      : Workload(name_of(variant, alone)), variant_(variant), shape_(shape) {}

  [[nodiscard]] JsonObject parameters() const override {
    JsonObject all;
    all.number("groups", static_cast<long long>(shape_.groups))
        .number("datasets", static_cast<long long>(shape_.datasets))
        .number("attributes", static_cast<long long>(shape_.attributes))
        .text("format", variant_.latest ? "latest" : "default")
        .boolean("compact", variant_.compact);
    return all;
  }

  [[nodiscard]] std::uint64_t bytes(int ranks) const override {
    std::uint64_t one = elements(ranks) * sizeof(double);
    for (std::uint64_t i = 0; i < shape_.attributes; ++i) one += attribute_bytes(i);
    return shape_.groups * shape_.datasets * one;
  }

  void write(Run& run) override {
    Handle file = run.timed(Phase::create, [&] {
      const Handle fapl = access(run);
      return Handle(H5Fcreate(run.file().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl.get()), H5Fclose,
                    "create " + run.file());
    });
    for (std::uint64_t group = 0; group < shape_.groups; ++group) {
      write_group(run, file, group);
      run.compute();
      run.progress(static_cast<double>(group + 1) / static_cast<double>(shape_.groups));
    }
    run.timed(Phase::flush, [&] { check(H5Fflush(file.get(), H5F_SCOPE_LOCAL), "flush"); });
    run.timed(Phase::close, [&] { file.close(); });
  }

  void read(Run& run) override {
    Handle file = run.timed(Phase::open, [&] {
      const Handle fapl = access(run);
      return Handle(H5Fopen(run.file().c_str(), H5F_ACC_RDONLY, fapl.get()), H5Fclose,
                    "open " + run.file());
    });
    list_tree(run, file.get(), shape_);
    read_datasets(run, file);
    run.timed(Phase::close_read, [&] { file.close(); });
  }

 private:
  [[nodiscard]] hsize_t elements(int ranks) const {
    return kElements * (variant_.writers == Writers::each ? static_cast<hsize_t>(ranks) : 1);
  }

  [[nodiscard]] Handle access(const Run& run) const {
    Handle list = run.fapl();
    if (variant_.latest)
      check(H5Pset_libver_bounds(list.get(), H5F_LIBVER_V114, H5F_LIBVER_V114), "version bounds");
    return list;
  }

  void write_group(Run& run, const Handle& file, std::uint64_t number) const {
    const std::string name = group_name(number);
    const hsize_t size = elements(run.ranks());
    const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, "dataspace");
    const Handle storage(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "creation property list");
    if (variant_.compact) check(H5Pset_layout(storage.get(), H5D_COMPACT), "compact layout");
    Attributes attributes(shape_.attributes);
    Handle group = run.timed(Phase::create, [&] {
      return Handle(H5Gcreate2(file.get(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                    H5Gclose, "create group " + name);
    });
    for (std::uint64_t i = 0; i < shape_.datasets; ++i) {
      const std::string path = path_of(number, i);
      run.untimed([&] { attributes.fill(path); });
      Handle dataset = run.timed(Phase::create, [&] {
        Handle made(H5Dcreate2(group.get(), dataset_name(i).c_str(), H5T_IEEE_F64LE, space.get(),
                               H5P_DEFAULT, storage.get(), H5P_DEFAULT),
                    H5Dclose, "create dataset " + path);
        attributes.create(made.get());
        return made;
      });
      write_data(run, dataset, space, path);
      run.timed(Phase::write, [&] { attributes.write(); });
      if (run.rank() == 0) run.wrote(attributes.bytes());
      run.timed(Phase::close, [&] {
        attributes.close();
        dataset.close();
      });
    }
    run.timed(Phase::close, [&] { group.close(); });
  }

  void write_data(Run& run, const Handle& dataset, const Handle& space,
                  const std::string& path) const {
    const bool each = variant_.writers == Writers::each;
    if (variant_.writers == Writers::one && run.rank() != 0) return;
    std::array<double, kElements> data{};
    const hsize_t first = each ? static_cast<hsize_t>(run.rank()) * kElements : 0;
    run.fill<double>(data, key_of(path), first);
    const hsize_t count = kElements;
    run.timed(Phase::write, [&] {
      const Handle memory(H5Screate_simple(1, &count, nullptr), H5Sclose, "dataspace");
      const Handle mine(H5Scopy(space.get()), H5Sclose, "dataspace");
      check(H5Sselect_hyperslab(mine.get(), H5S_SELECT_SET, &first, nullptr, &count, nullptr),
            "select");
      check(H5Dwrite(dataset.get(), H5T_NATIVE_DOUBLE, memory.get(), mine.get(), H5P_DEFAULT,
                     data.data()),
            "write dataset " + path);
    });
    if (each || run.rank() == 0) run.wrote(sizeof data);
  }

  // In random order, each dataset by one rank.
  void read_datasets(Run& run, const Handle& file) const {
    Scratch<std::vector<std::uint64_t>> mine(run);
    run.untimed([&] {
      *mine = dealt(shuffled(shape_.groups * shape_.datasets, key_of("paths"), 0), run.rank(),
                    run.ranks());
    });
    Attributes attributes(shape_.attributes);
    std::size_t done = 0;
    for (const std::uint64_t each : *mine) {
      read_dataset(run, file, path_of(each / shape_.datasets, each % shape_.datasets), attributes);
      run.progress(static_cast<double>(++done) / static_cast<double>(mine->size()));
    }
  }

  void read_dataset(Run& run, const Handle& file, const std::string& path,
                    Attributes& attributes) const {
    Scratch<std::vector<double>> data(run, elements(run.ranks()), -1);
    H5O_info2_t info;
    Handle dataset = run.timed(Phase::open, [&] {
      Handle opened(H5Dopen2(file.get(), path.c_str(), H5P_DEFAULT), H5Dclose,
                    "open dataset " + path);
      check(H5Oget_info3(opened.get(), &info, H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS), "info");
      return opened;
    });
    run.untimed([&] { verify_description(dataset, info, data->size(), path); });
    run.timed(Phase::read, [&] {
      check(H5Dread(dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data->data()),
            "read dataset " + path);
      attributes.read(dataset.get());
    });
    run.verify<double>(*data, key_of(path), 0, path);
    run.untimed([&] { attributes.verify(path); });
    run.has_read(data->size() * sizeof(double) + attributes.bytes());
    run.timed(Phase::close_read, [&] { dataset.close(); });
  }

  void verify_description(const Handle& dataset, const H5O_info2_t& info, hsize_t size,
                          const std::string& path) const {
    const Handle type(H5Dget_type(dataset.get()), H5Tclose, "type");
    const Handle space(H5Dget_space(dataset.get()), H5Sclose, "dataspace");
    const Handle storage(H5Dget_create_plist(dataset.get()), H5Pclose, "creation property list");
    if (info.num_attrs != shape_.attributes)
      throw Error(path + " has " + std::to_string(info.num_attrs) + " attributes");
    if (H5Tequal(type.get(), H5T_IEEE_F64LE) <= 0 ||
        H5Sget_simple_extent_npoints(space.get()) != static_cast<hssize_t>(size))
      throw Error(path + " has another type or size than it was written with");
    if ((H5Pget_layout(storage.get()) == H5D_COMPACT) != variant_.compact)
      throw Error(path + " has another layout than it was written with");
  }

  Variant variant_;
  Shape shape_;
};

class MetadataKernel final : public Kernel {
 public:
  void add_options(CLI::App& app) override {
    add_count(app, "--groups", shape_.groups, "Groups");
    add_count(app, "--datasets", shape_.datasets, "Datasets per group");
    add_count(app, "--attributes", shape_.attributes, "Attributes per dataset");
  }
  void shrink() override { shape_ = {5, 20, 3}; }
  Workloads workloads(int ranks) override {
    Workloads all;
    const bool alone = ranks == 1;
    const auto add = [&](const Variant& variant) {
      all.push_back(std::make_unique<Metadata>(variant, shape_, alone));
    };
    for (const bool latest : {false, true}) {
      add({latest, false, Writers::one});
      if (!alone) add({latest, false, Writers::each});
      add({latest, true, Writers::same});
    }
    return all;
  }

 private:
  Shape shape_;
};

}  // namespace
}  // namespace headrace::bench::metadata

namespace headrace::bench {

std::unique_ptr<Kernel> make_metadata() { return std::make_unique<metadata::MetadataKernel>(); }

}  // namespace headrace::bench

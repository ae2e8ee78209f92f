#include "kernels/files/openings.hpp"

#include <array>
#include <vector>

#include "scratch.hpp"

namespace headrace::bench::files {
namespace {

using Values = std::vector<std::int64_t>;

constexpr const char* kData = "x";
constexpr std::uint64_t kKey = key_of(kData);
constexpr std::size_t kElement = sizeof(std::int64_t);

Handle created_file(const std::string& name) {
  return {H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose,
          "create " + name};
}
Handle opened_file(const std::string& name, unsigned flags) {
  return {H5Fopen(name.c_str(), flags, H5P_DEFAULT), H5Fclose, "open " + name};
}
Handle opened_dataset(const Handle& file, const char* name) {
  return {H5Dopen2(file.get(), name, H5P_DEFAULT), H5Dclose, std::string("open dataset ") + name};
}
Handle space_of(const std::vector<hsize_t>& extent, const hsize_t* most = nullptr) {
  return {H5Screate_simple(static_cast<int>(extent.size()), extent.data(), most), H5Sclose,
          "dataspace"};
}

// The dataspace of a dataset with `start` and `count` selected.
Handle selected(const Handle& dataset, const std::vector<hsize_t>& start,
                const std::vector<hsize_t>& count) {
  Handle space(H5Dget_space(dataset.get()), H5Sclose, "dataspace of a dataset");
  check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                            nullptr),
        "select");
  return space;
}

Handle create_dataset(const Handle& file, const char* name, const Values& data) {
  const Handle space = space_of({data.size()});
  Handle dataset(H5Dcreate2(file.get(), name, H5T_STD_I64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT,
                            H5P_DEFAULT),
                 H5Dclose, std::string("create dataset ") + name);
  check(H5Dwrite(dataset.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()),
        "write dataset");
  return dataset;
}

// The case's file with one dataset in it.
void create_file(Run& run, std::uint64_t elements) {
  Scratch<Values> data(run, elements);
  run.fill<std::int64_t>(*data, kKey, 0);
  run.timed(Phase::create, [&] {
    Handle file = created_file(run.file());
    create_dataset(file, kData, *data).close();
    file.close();
  });
  run.wrote(elements * kElement);
}

std::int64_t read_element(const Handle& dataset, std::uint64_t index) {
  const Handle memory = space_of({1});
  const Handle file = selected(dataset, {index}, {1});
  std::int64_t found = -1;
  check(H5Dread(dataset.get(), H5T_NATIVE_INT64, memory.get(), file.get(), H5P_DEFAULT, &found),
        "read element");
  return found;
}

void read_all(const Handle& dataset, Values& data) {
  check(H5Dread(dataset.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()),
        "read dataset");
}

// Opens the case's file as often as the shape says; action(file, dataset, i) is timed with that.
template <typename Action>
void each_opening(Run& run, std::uint64_t openings, unsigned flags, const Action& action) {
  const bool writes = flags == H5F_ACC_RDWR;
  for (std::uint64_t i = 0; i < openings; ++i) {
    Handle file = run.timed(writes ? Phase::create : Phase::open,
                            [&] { return opened_file(run.file(), flags); });
    run.timed(writes ? Phase::write : Phase::read, [&] {
      Handle dataset = opened_dataset(file, kData);
      action(dataset, i);
      dataset.close();
    });
    run.timed(writes ? Phase::close : Phase::close_read, [&] { file.close(); });
  }
}

// Reads the dataset of the case's file, and verifies it.
void drain(Run& run, std::uint64_t openings, std::uint64_t elements) {
  Scratch<Values> data(run, elements);
  each_opening(run, openings, H5F_ACC_RDONLY,
               [&](const Handle& dataset, std::uint64_t /*i*/) { read_all(dataset, *data); });
  run.has_read(openings * elements * kElement);
  run.verify<std::int64_t>(*data, kKey, 0, kData);
}

class OpenReadClose final : public Openings {
 public:
  explicit OpenReadClose(const Shape& shape) : Openings("open-read-close", shape) {}
  [[nodiscard]] std::uint64_t bytes(int /*ranks*/) const override { return dataset_bytes(); }
  [[nodiscard]] std::uint64_t bytes_read(int /*ranks*/) const override {
    return shape().openings * kElement;
  }
  void write(Run& run) override { create_file(run, shape().elements); }
  void read(Run& run) override {
    Scratch<Values> found(run, shape().openings);
    const auto place = [&](std::uint64_t i) { return i % shape().elements; };
    each_opening(run, shape().openings, H5F_ACC_RDONLY,
                 [&](const Handle& dataset, std::uint64_t i) {
                   (*found)[i] = read_element(dataset, place(i));
                 });
    run.has_read(shape().openings * kElement);
    run.untimed([&] {
      for (std::uint64_t i = 0; i < found->size(); ++i)
        verify_one((*found)[i], value<std::int64_t>(kKey, place(i)), place(i), kData);
    });
  }
};

class OpenWriteClose final : public Openings {
 public:
  explicit OpenWriteClose(const Shape& shape) : Openings("open-write-close", shape) {}
  [[nodiscard]] std::uint64_t bytes(int /*ranks*/) const override {
    return dataset_bytes() + shape().openings * kElement;
  }
  [[nodiscard]] std::uint64_t bytes_read(int /*ranks*/) const override { return dataset_bytes(); }
  void write(Run& run) override {
    create_file(run, shape().elements);
    each_opening(run, shape().openings, H5F_ACC_RDWR, [&](const Handle& dataset, std::uint64_t i) {
      const std::uint64_t index = i % shape().elements;
      const auto element = other_value(index);
      const Handle memory = space_of({1});
      const Handle file = selected(dataset, {index}, {1});
      check(H5Dwrite(dataset.get(), H5T_NATIVE_INT64, memory.get(), file.get(), H5P_DEFAULT,
                     &element),
            "write element");
    });
    run.wrote(shape().openings * kElement);
  }
  void read(Run& run) override {
    Scratch<Values> data(run, shape().elements);
    each_opening(run, 1, H5F_ACC_RDONLY,
                 [&](const Handle& dataset, std::uint64_t /*i*/) { read_all(dataset, *data); });
    run.has_read(dataset_bytes());
    run.untimed([&] {
      for (std::uint64_t i = 0; i < data->size(); ++i)
        verify_one((*data)[i], i < shape().openings ? other_value(i) : value<std::int64_t>(kKey, i),
                   i, kData);
    });
  }

 private:
  static std::int64_t other_value(std::uint64_t index) {
    return value<std::int64_t>(key_of("written"), index);
  }
};

class OpenAppendClose final : public Openings {
 public:
  explicit OpenAppendClose(const Shape& shape) : Openings("open-append-close", shape) {}
  [[nodiscard]] std::uint64_t bytes(int /*ranks*/) const override {
    return shape().openings * shape().columns * sizeof(float);
  }
  void write(Run& run) override {
    run.timed(Phase::create, [&] { create(run.file()); });
    Scratch<std::vector<float>> rows(run, shape().openings * shape().columns);
    run.fill<float>(*rows, kKey, 0, Texture::smooth);
    each_opening(run, shape().openings, H5F_ACC_RDWR, [&](const Handle& dataset, std::uint64_t i) {
      const std::array<hsize_t, 2> extent{i + 1, shape().columns};
      check(H5Dset_extent(dataset.get(), extent.data()), "resize dataset");
      const Handle memory = space_of({1, shape().columns});
      const Handle file = selected(dataset, {i, 0}, {1, shape().columns});
      check(H5Dwrite(dataset.get(), H5T_NATIVE_FLOAT, memory.get(), file.get(), H5P_DEFAULT,
                     rows->data() + i * shape().columns),
            "append row");
    });
    run.wrote(bytes(1));
  }
  void read(Run& run) override {
    Scratch<std::vector<float>> data(run, shape().openings * shape().columns);
    each_opening(run, 1, H5F_ACC_RDONLY, [&](const Handle& dataset, std::uint64_t /*i*/) {
      check(H5Dread(dataset.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data->data()),
            "read dataset");
    });
    run.has_read(bytes(1));
    run.verify<float>(*data, kKey, 0, kData, Texture::smooth);
  }

 private:
  void create(const std::string& name) const {
    constexpr unsigned kLevel = 4;
    constexpr hsize_t kRows = 64;
    const std::array<hsize_t, 2> most{H5S_UNLIMITED, shape().columns};
    const std::array<hsize_t, 2> chunk{kRows, shape().columns};
    const Handle list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "creation property list");
    check(H5Pset_chunk(list.get(), static_cast<int>(chunk.size()), chunk.data()), "set chunk");
    check(H5Pset_deflate(list.get(), kLevel), "set gzip");
    const Handle space = space_of({0, shape().columns}, most.data());
    Handle file = created_file(name);
    Handle dataset(H5Dcreate2(file.get(), kData, H5T_IEEE_F32LE, space.get(), H5P_DEFAULT,
                              list.get(), H5P_DEFAULT),
                   H5Dclose, "create dataset");
    dataset.close();
    file.close();
  }
};

class OpenClose final : public Openings {
 public:
  explicit OpenClose(const Shape& shape) : Openings("open-close", shape) {}
  [[nodiscard]] std::uint64_t bytes(int /*ranks*/) const override { return dataset_bytes(); }
  [[nodiscard]] std::uint64_t bytes_read(int /*ranks*/) const override {
    return shape().openings * dataset_bytes();
  }
  void write(Run& run) override {
    create_file(run, shape().elements);
    Scratch<Values> data(run, shape().elements);
    each_opening(run, shape().openings, H5F_ACC_RDWR,
                 [&](const Handle& dataset, std::uint64_t /*i*/) { read_all(dataset, *data); });
    run.verify<std::int64_t>(*data, kKey, 0, kData);
  }
  void read(Run& run) override { drain(run, shape().openings, shape().elements); }
};

class ManySmallFiles final : public Openings {
 public:
  explicit ManySmallFiles(const Shape& shape) : Openings("many-small-files", shape) {}
  [[nodiscard]] std::uint64_t bytes(int /*ranks*/) const override {
    return shape().files * kNames.size() * (dataset_bytes() + 1);
  }
  [[nodiscard]] std::uint64_t bytes_read(int /*ranks*/) const override {
    return shape().files * kElement;
  }
  void write(Run& run) override {
    Scratch<Values> data(run, shape().elements);
    run.fill<std::int64_t>(*data, kKey, 0);
    for (std::uint64_t i = 0; i < shape().files; ++i) {
      Handle file = run.timed(Phase::create, [&] { return created_file(name_of(run, i)); });
      run.timed(Phase::write, [&] {
        for (const char* const name : kNames) {
          Handle dataset = create_dataset(file, name, *data);
          add_unit(dataset);
          dataset.close();
        }
      });
      run.timed(Phase::close, [&] { file.close(); });
    }
    run.wrote(bytes(1));
  }
  void read(Run& run) override {
    Scratch<Values> found(run, shape().files);
    const std::uint64_t place = shape().elements / 2;
    for (std::uint64_t i = 0; i < shape().files; ++i) {
      Handle file =
          run.timed(Phase::open, [&] { return opened_file(name_of(run, i), H5F_ACC_RDONLY); });
      run.timed(Phase::read, [&] {
        Handle dataset = opened_dataset(file, kNames[1]);
        (*found)[i] = read_element(dataset, place);
        dataset.close();
      });
      run.timed(Phase::close_read, [&] { file.close(); });
    }
    run.has_read(bytes_read(1));
    run.untimed([&] {
      for (const std::int64_t each : *found)
        verify_one(each, value<std::int64_t>(kKey, place), place, kNames[1]);
    });
  }

 private:
  static constexpr std::array kNames{"d0", "d1", "d2"};
  // The first one is the main file.
  static std::string name_of(const Run& run, std::uint64_t i) {
    return i == 0 ? run.file() : run.file("f" + std::to_string(i) + ".h5");
  }
  static void add_unit(const Handle& dataset) {
    const Handle scalar(H5Screate(H5S_SCALAR), H5Sclose, "dataspace");
    Handle unit(
        H5Acreate2(dataset.get(), "units", H5T_C_S1, scalar.get(), H5P_DEFAULT, H5P_DEFAULT),
        H5Aclose, "create attribute units");
    check(H5Awrite(unit.get(), H5T_C_S1, "m"), "write attribute units");
    unit.close();
  }
};

}  // namespace

JsonObject Openings::parameters() const {
  JsonObject all;
  all.number("openings", static_cast<long long>(shape_.openings))
      .number("files", static_cast<long long>(shape_.files))
      .number("elements", static_cast<long long>(shape_.elements))
      .number("columns", static_cast<long long>(shape_.columns));
  return all;
}

std::unique_ptr<Workload> open_read_close(const Shape& shape) {
  return std::make_unique<OpenReadClose>(shape);
}
std::unique_ptr<Workload> open_write_close(const Shape& shape) {
  return std::make_unique<OpenWriteClose>(shape);
}
std::unique_ptr<Workload> open_append_close(const Shape& shape) {
  return std::make_unique<OpenAppendClose>(shape);
}
std::unique_ptr<Workload> open_close(const Shape& shape) {
  return std::make_unique<OpenClose>(shape);
}
std::unique_ptr<Workload> many_small_files(const Shape& shape) {
  return std::make_unique<ManySmallFiles>(shape);
}

}  // namespace headrace::bench::files

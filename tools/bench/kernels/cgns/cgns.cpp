// An unstructured grid and its solution in a CGNS file, after the CGNS library's parallel
// benchmark. https://github.com/CGNS/CGNS/blob/develop/src/ptests/benchmark_hdf5.c
#include <array>

#include "base/error.hpp"
#include "kernel.hpp"
#include "kernels/cgns/nodes.hpp"
#include "kernels/shared/attributes.hpp"
#include "scratch.hpp"

namespace headrace::bench {
namespace {

using cgns::Node;

constexpr std::uint64_t kNodesPerElement = 6;  // of a prism, PENTA_6

// The large arrays, in the order of their writing. Those of a group go into one multi-dataset call.
struct Array {
  const char* path;
  bool integer;
  int group;
};
constexpr std::array<Array, 9> kArrays{{
    {"Base 1/Zone 1/GridCoordinates/CoordinateX", false, 0},
    {"Base 1/Zone 1/GridCoordinates/CoordinateY", false, 0},
    {"Base 1/Zone 1/GridCoordinates/CoordinateZ", false, 0},
    {"Base 1/Zone 1/Elements/ElementConnectivity", true, 1},
    {"Base 1/Zone 1/Solution/MomentumX", false, 2},
    {"Base 1/Zone 1/Solution/MomentumY", false, 2},
    {"Base 1/Zone 1/Solution/MomentumZ", false, 2},
    {"Base 1/Zone 1/User Data/ArrayR", false, 3},
    {"Base 1/Zone 1/User Data/ArrayI", true, 3},
}};
constexpr int kGroups = 4;
static_assert(sizeof(double) == sizeof(std::int64_t));

using Datasets = std::array<Handle, kArrays.size()>;

class Cgns final : public Workload {
 public:
  Cgns(std::uint64_t elements, bool multi, bool collective)
      : Workload(std::string(multi ? "multi" : "single") +
                 (collective ? "-collective" : "-independent")),
        elements_(elements),
        multi_(multi),
        collective_(collective) {}

  [[nodiscard]] JsonObject parameters() const override {
    JsonObject all;
    all.number("elements", static_cast<long long>(elements_))
        .boolean("multi", multi_)
        .boolean("collective", collective_);
    return all;
  }
  [[nodiscard]] std::uint64_t bytes(int ranks) const override {
    return kArrays.size() * length(ranks) * sizeof(double);
  }

  void write(Run& run) override {
    Handle file;
    Datasets datasets;
    run.timed(Phase::create, [&] {
      const Handle fapl = run.fapl();
      const Handle fcpl = cgns::ordered(H5P_FILE_CREATE);
      file = Handle(H5Fcreate(run.file().c_str(), H5F_ACC_TRUNC, fcpl.get(), fapl.get()), H5Fclose,
                    "create " + run.file());
      create_nodes(file.get(), run.ranks(), datasets);
    });
    for (int group = 0; group < kGroups; ++group) {
      Scratch<std::vector<Buffer>> buffers(run);
      run.untimed([&] { *buffers = made(run, group); });
      run.timed(Phase::write, [&] { move(run, datasets, group, *buffers, true); });
      for (const Buffer& buffer : *buffers) run.wrote(buffer.size() * sizeof(std::int64_t));
      run.progress(static_cast<double>(group + 1) / kGroups);
    }
    run.compute();
    run.timed(Phase::flush, [&] { check(H5Fflush(file.get(), H5F_SCOPE_LOCAL), "flush"); });
    run.timed(Phase::close, [&] { close(file, datasets); });
  }

  void read(Run& run) override {
    Handle file;
    Datasets datasets;
    run.timed(Phase::open, [&] {
      const Handle fapl = run.fapl();
      file = Handle(H5Fopen(run.file().c_str(), H5F_ACC_RDONLY, fapl.get()), H5Fclose,
                    "open " + run.file());
      open_arrays(file.get(), run.ranks(), datasets);
    });
    for (int group = 0; group < kGroups; ++group) {
      Scratch<std::vector<Buffer>> buffers(run);
      run.untimed([&] { buffers->assign(members(group).size(), Buffer(length(1))); });
      run.timed(Phase::read, [&] { move(run, datasets, group, *buffers, false); });
      run.untimed([&] { verify(run, group, *buffers); });
      for (const Buffer& buffer : *buffers) run.has_read(buffer.size() * sizeof(std::int64_t));
    }
    run.timed(Phase::close_read, [&] { close(file, datasets); });
  }

 private:
  using Buffer = std::vector<std::int64_t>;  // or of doubles, which are as large

  // Elements of each array, over all ranks and of one.
  [[nodiscard]] std::uint64_t length(int ranks) const {
    return elements_ * kNodesPerElement * static_cast<std::uint64_t>(ranks);
  }
  [[nodiscard]] std::uint64_t first(Run& run) const {
    return length(1) * static_cast<std::uint64_t>(run.rank());
  }

  static std::vector<std::size_t> members(int group) {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < kArrays.size(); ++i)
      if (kArrays[i].group == group) all.push_back(i);
    return all;
  }
  static hid_t type_of(const Array& array) {
    return array.integer ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
  }

  static Handle create_array(const Node& parent, const Array& array, hsize_t length) {
    const std::string path = array.path;
    const Node node(parent.get(), path.substr(path.rfind('/') + 1), "DataArray_t",
                    array.integer ? "I8" : "R8");
    return node.create_array(type_of(array), length);
  }

  void create_nodes(hid_t file, int ranks, Datasets& datasets) const {
    constexpr std::array<std::int32_t, 2> kDimensions{3, 3};  // of cells, and of space
    constexpr std::array<std::int32_t, 2> kPenta6{14, 0};     // and no boundary elements
    const auto nodes = static_cast<std::int64_t>(length(ranks));
    const auto elements = nodes / static_cast<std::int64_t>(kNodesPerElement);
    cgns::write_root(file);
    const Node base(file, "Base 1", "CGNSBase_t", "I4");
    base.write(H5T_NATIVE_INT32, {2}, kDimensions.data());
    const Node zone(base.get(), "Zone 1", "Zone_t", "I8");
    zone.write(H5T_NATIVE_INT64, {3, 1}, std::array<std::int64_t, 3>{nodes, elements, 0}.data());
    Node(zone.get(), "ZoneType", "ZoneType_t", "C1").write_text("Unstructured");
    const Node coordinates(zone.get(), "GridCoordinates", "GridCoordinates_t", "MT");
    const Node section(zone.get(), "Elements", "Elements_t", "I4");
    section.write(H5T_NATIVE_INT32, {2}, kPenta6.data());
    Node(section.get(), "ElementRange", "IndexRange_t", "I8")
        .write(H5T_NATIVE_INT64, {2}, std::array<std::int64_t, 2>{1, elements}.data());
    const Node solution(zone.get(), "Solution", "FlowSolution_t", "MT");
    const Node user(zone.get(), "User Data", "UserDefinedData_t", "MT");
    const std::array<const Node*, kGroups> parents{&coordinates, &section, &solution, &user};
    for (std::size_t i = 0; i < kArrays.size(); ++i)
      datasets[i] = create_array(*parents[static_cast<std::size_t>(kArrays[i].group)], kArrays[i],
                                 length(ranks));
  }

  void open_arrays(hid_t file, int ranks, Datasets& datasets) const {
    for (std::size_t i = 0; i < kArrays.size(); ++i) {
      const std::string path = std::string(kArrays[i].path) + "/ data";
      datasets[i] =
          Handle(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose, "open dataset " + path);
      const Handle space(H5Dget_space(datasets[i].get()), H5Sclose, "dataspace");
      const Handle type(H5Dget_type(datasets[i].get()), H5Tclose, "type");
      if (check(H5Sget_simple_extent_npoints(space.get()), "dataspace") !=
              static_cast<hssize_t>(length(ranks)) ||
          check(H5Tequal(type.get(), type_of(kArrays[i])), "compare types") == 0)
        throw Error("dataset " + path + " has another type or length than was written");
    }
  }

  // One of a group's arrays on this rank, as an array of its own type.
  template <typename Action>
  static void with_values(const Array& array, Buffer& buffer, const Action& action) {
    if (array.integer)
      action(std::span<std::int64_t>(buffer));
    else
      action(std::span<double>(reinterpret_cast<double*>(buffer.data()), buffer.size()));
  }

  std::vector<Buffer> made(Run& run, int group) const {
    std::vector<Buffer> all;
    for (const std::size_t i : members(group)) {
      all.emplace_back(length(1));
      with_values(kArrays[i], all.back(), [&]<typename T>(std::span<T> values) {
        bench::fill<T>(values, key_of(kArrays[i].path), first(run));
      });
    }
    return all;
  }

  void verify(Run& run, int group, std::vector<Buffer>& buffers) const {
    std::size_t next = 0;
    for (const std::size_t i : members(group))
      with_values(kArrays[i], buffers[next++], [&]<typename T>(std::span<T> values) {
        bench::verify<T>(values, key_of(kArrays[i].path), first(run), kArrays[i].path);
      });
  }

  // A group's arrays, this rank's part of each: in one call, or in one call each.
  void move(Run& run, const Datasets& datasets, int group, std::vector<Buffer>& buffers,
            bool write) const {
    const hsize_t size = length(run.ranks());
    const hsize_t start = first(run);
    const hsize_t count = length(1);
    const Handle memory(H5Screate_simple(1, &count, nullptr), H5Sclose, "dataspace");
    const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, "dataspace");
    check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &start, nullptr, &count, nullptr),
          "select");
    const Handle dxpl = run.dxpl(collective_);
    const std::vector<std::size_t> which = members(group);
    std::vector<hid_t> ids;
    std::vector<hid_t> types;
    std::vector<void*> data;
    for (std::size_t i = 0; i < which.size(); ++i) {
      ids.push_back(datasets[which[i]].get());
      types.push_back(type_of(kArrays[which[i]]));
      data.push_back(buffers[i].data());
    }
    const std::size_t step = multi_ ? which.size() : 1;
    std::vector<hid_t> memories(step, memory.get());
    std::vector<hid_t> spaces(step, space.get());
    for (std::size_t i = 0; i < which.size(); i += step) {
      const std::string what = kArrays[which[i]].path;
      if (write)
        check(write_some(step, &ids[i], &types[i], memories.data(), spaces.data(), dxpl.get(),
                         &data[i]),
              "write " + what);
      else
        check(read_some(step, &ids[i], &types[i], memories.data(), spaces.data(), dxpl.get(),
                        &data[i]),
              "read " + what);
      run.transferred(dxpl.get());
    }
  }

  herr_t write_some(std::size_t count, hid_t* ids, hid_t* types, hid_t* memories, hid_t* spaces,
                    hid_t dxpl, void** data) const {
    if (!multi_) return H5Dwrite(ids[0], types[0], memories[0], spaces[0], dxpl, data[0]);
    std::vector<const void*> buffers(data, data + count);
    return H5Dwrite_multi(count, ids, types, memories, spaces, dxpl, buffers.data());
  }
  herr_t read_some(std::size_t count, hid_t* ids, hid_t* types, hid_t* memories, hid_t* spaces,
                   hid_t dxpl, void** data) const {
    if (!multi_) return H5Dread(ids[0], types[0], memories[0], spaces[0], dxpl, data[0]);
    return H5Dread_multi(count, ids, types, memories, spaces, dxpl, data);
  }

  static void close(Handle& file, Datasets& datasets) {
    for (Handle& dataset : datasets) dataset.close();
    file.close();
  }

  std::uint64_t elements_;
  bool multi_;
  bool collective_;
};

class CgnsKernel final : public Kernel {
 public:
  void add_options(CLI::App& app) override {
    add_count(app, "--elements", elements_, "Prisms per rank");
  }
  void shrink() override { elements_ = 8192; }
  Workloads workloads(int ranks) override {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 40U;
    if (elements_ > kMost) throw Error("cgns: --elements is too large");
    Workloads all;
    for (const bool multi : {false, true}) {
      all.push_back(std::make_unique<Cgns>(elements_, multi, false));
      if (ranks > 1) all.push_back(std::make_unique<Cgns>(elements_, multi, true));
    }
    return all;
  }

 private:
  std::uint64_t elements_ = 65536;
};

}  // namespace

std::unique_ptr<Kernel> make_cgns() { return std::make_unique<CgnsKernel>(); }

}  // namespace headrace::bench

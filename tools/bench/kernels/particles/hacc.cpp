// The checkpoint of the cosmology code HACC, 38 bytes a particle, as its I/O kernel HACC-IO
// writes it, in three layouts. https://asc.llnl.gov/coral-benchmarks#hacc

#include "base/error.hpp"
#include "kernel.hpp"
#include "kernels/particles/datasets.hpp"
#include "scratch.hpp"

namespace headrace::bench::particles {
namespace {

const Record& hacc_record() {
  static const Record kRecord({{"xx", Scalar::f32},
                               {"yy", Scalar::f32},
                               {"zz", Scalar::f32},
                               {"vx", Scalar::f32},
                               {"vy", Scalar::f32},
                               {"vz", Scalar::f32},
                               {"phi", Scalar::f32},
                               {"pid", Scalar::i64},
                               {"mask", Scalar::u16}});
  return kRecord;
}

enum class Storage { arrays, compound, blob };
constexpr std::array<const char*, 3> kNames{"arrays", "compound", "blob"};

// One dataset of bytes: each rank's arrays one after the other.
class BlobDataset {
 public:
  explicit BlobDataset(ParticleBuffer& buffer) : buffer_(buffer) {}

  void create(hid_t file, hsize_t total) {
    const hsize_t size = bytes(total);
    const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, "dataspace");
    dataset_ = Handle(
        H5Dcreate2(file, "blob", H5T_STD_U8LE, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        H5Dclose, "create dataset blob");
  }
  void open(hid_t file, hsize_t total) {
    dataset_ = Handle(H5Dopen2(file, "blob", H5P_DEFAULT), H5Dclose, "open dataset blob");
    const Handle space(H5Dget_space(dataset_.get()), H5Sclose, "dataspace of blob");
    if (H5Sget_simple_extent_npoints(space.get()) != static_cast<hssize_t>(bytes(total)))
      throw Error("dataset blob has another size than it was written with");
  }
  void close() { dataset_.close(); }
  void write(const Pick& pick, hsize_t total, const Handle& dxpl) const {
    const Pick mine = Pick::slab(bytes(pick.first), bytes(pick.count()));
    const Handle space = mine.file_space(bytes(total));
    const Handle memory = mine.memory_space();
    check(H5Dwrite(dataset_.get(), H5T_NATIVE_UINT8, memory.get(), space.get(), dxpl.get(),
                   buffer_.data()),
          "write dataset blob");
  }
  void read(const Pick& pick, hsize_t total, const Handle& dxpl) const {
    const Pick mine = Pick::slab(bytes(pick.first), bytes(pick.count()));
    const Handle space = mine.file_space(bytes(total));
    const Handle memory = mine.memory_space();
    check(H5Dread(dataset_.get(), H5T_NATIVE_UINT8, memory.get(), space.get(), dxpl.get(),
                  buffer_.data()),
          "read dataset blob");
  }

 private:
  static hsize_t bytes(hsize_t particles) { return particles * hacc_record().packed_size(); }

  ParticleBuffer& buffer_;
  Handle dataset_;
};

class Hacc final : public Workload {
 public:
  Hacc(Storage storage, std::uint64_t particles, bool collective)
      : Workload(std::string(name_of(storage)) + (collective ? "-collective" : "-independent")),
        storage_(storage),
        layout_(storage == Storage::compound ? Layout::structures : Layout::arrays),
        particles_(particles),
        collective_(collective) {}

  [[nodiscard]] JsonObject parameters() const override {
    JsonObject all;
    all.number("particles", static_cast<long long>(particles_))
        .text("storage", name_of(storage_))
        .boolean("collective", collective_);
    return all;
  }
  [[nodiscard]] std::uint64_t bytes(int ranks) const override {
    return particles_ * static_cast<std::uint64_t>(ranks) * hacc_record().packed_size();
  }

  void write(Run& run) override {
    with_datasets(run,
                  [&](ParticleBuffer& buffer, auto& datasets) { write(run, buffer, datasets); });
  }
  void read(Run& run) override {
    with_datasets(run,
                  [&](ParticleBuffer& buffer, auto& datasets) { read(run, buffer, datasets); });
  }

 private:
  static const char* name_of(Storage storage) { return kNames[static_cast<std::size_t>(storage)]; }

  template <typename Action>
  void with_datasets(Run& run, const Action& action) const {
    Scratch<ParticleBuffer> buffer(run, hacc_record(), layout_, particles_);
    if (storage_ == Storage::blob) {
      BlobDataset blob(*buffer);
      return action(*buffer, blob);
    }
    ParticleDatasets datasets(hacc_record(), layout_, *buffer);
    action(*buffer, datasets);
  }

  [[nodiscard]] Pick slab_of(Run& run) const {
    return Pick::slab(run.world().before(particles_), particles_);
  }
  [[nodiscard]] hsize_t total(const Run& run) const {
    return particles_ * static_cast<hsize_t>(run.ranks());
  }

  template <typename Datasets>
  void write(Run& run, ParticleBuffer& buffer, Datasets& datasets) const {
    const Pick pick = slab_of(run);
    const Handle dxpl = transfer_list(run, collective_, hacc_record(), pick.count());
    run.untimed([&] { buffer.fill("", pick); });
    Handle file = run.timed(Phase::create, [&] {
      const Handle fapl = run.fapl();
      Handle made(H5Fcreate(run.file().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl.get()), H5Fclose,
                  "create " + run.file());
      datasets.create(made.get(), total(run));
      return made;
    });
    run.timed(Phase::write, [&] { datasets.write(pick, total(run), dxpl); });
    run.transferred(dxpl.get());
    run.wrote(pick.count() * hacc_record().packed_size());
    run.compute();
    run.progress(1);
    run.timed(Phase::flush, [&] { check(H5Fflush(file.get(), H5F_SCOPE_LOCAL), "flush"); });
    run.timed(Phase::close, [&] {
      datasets.close();
      file.close();
    });
  }

  template <typename Datasets>
  void read(Run& run, ParticleBuffer& buffer, Datasets& datasets) const {
    const Pick pick = slab_of(run);
    const Handle dxpl = transfer_list(run, collective_, hacc_record(), pick.count());
    Handle file = run.timed(Phase::open, [&] {
      const Handle fapl = run.fapl();
      Handle opened(H5Fopen(run.file().c_str(), H5F_ACC_RDONLY, fapl.get()), H5Fclose,
                    "open " + run.file());
      datasets.open(opened.get(), total(run));
      return opened;
    });
    run.timed(Phase::read, [&] { datasets.read(pick, total(run), dxpl); });
    run.transferred(dxpl.get());
    run.has_read(pick.count() * hacc_record().packed_size());
    run.timed(Phase::close_read, [&] {
      datasets.close();
      file.close();
    });
    run.untimed([&] { buffer.verify("", pick); });
  }

  Storage storage_;
  Layout layout_;
  std::uint64_t particles_;
  bool collective_;
};

class HaccKernel final : public Kernel {
 public:
  void add_options(CLI::App& app) override {
    add_count(app, "--particles", particles_, "Particles per rank");
  }
  void shrink() override { particles_ = std::uint64_t{64} << 10U; }
  Workloads workloads(int ranks) override {
    Workloads all;
    for (const Storage storage : {Storage::arrays, Storage::compound, Storage::blob}) {
      all.push_back(std::make_unique<Hacc>(storage, particles_, false));
      if (ranks > 1) all.push_back(std::make_unique<Hacc>(storage, particles_, true));
    }
    return all;
  }

 private:
  std::uint64_t particles_ = std::uint64_t{8} << 20U;
};

}  // namespace
}  // namespace headrace::bench::particles

namespace headrace::bench {

std::unique_ptr<Kernel> make_hacc() { return std::make_unique<particles::HaccKernel>(); }

}  // namespace headrace::bench

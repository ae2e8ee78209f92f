// One shared dataset of bytes, as IOR writes it: in each segment every rank has a block, written in
// transfers. https://ior.readthedocs.io/en/latest/userDoc/options.html

#include <functional>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "kernel.hpp"
#include "scratch.hpp"

namespace headrace::bench {
namespace {

struct Shape {
  std::uint64_t block = std::uint64_t{16} << 20U;    // bytes
  std::uint64_t transfer = std::uint64_t{1} << 20U;  // bytes
  std::uint64_t segments = 4;
};

class Ior final : public Workload {
 public:
  Ior(const Shape& shape, bool collective)
      : Workload(collective ? "collective" : "independent"),
        shape_(shape),
        collective_(collective) {}

  [[nodiscard]] JsonObject parameters() const override {
    JsonObject all;
    all.number("block", static_cast<long long>(shape_.block))
        .number("transfer", static_cast<long long>(shape_.transfer))
        .number("segments", static_cast<long long>(shape_.segments))
        .boolean("collective", collective_);
    return all;
  }
  [[nodiscard]] std::uint64_t bytes(int ranks) const override {
    return shape_.block * shape_.segments * static_cast<std::uint64_t>(ranks);
  }

  void write(Run& run) override {
    const hsize_t size = bytes(run.ranks());
    Handle file;
    Handle dataset;
    run.timed(Phase::create, [&] {
      const Handle fapl = run.fapl();
      file = Handle(H5Fcreate(run.file().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl.get()), H5Fclose,
                    "create " + run.file());
      const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, "dataspace");
      dataset = Handle(H5Dcreate2(file.get(), "data", H5T_STD_U8LE, space.get(), H5P_DEFAULT,
                                  H5P_DEFAULT, H5P_DEFAULT),
                       H5Dclose, "create dataset data");
    });
    each_block(run, [&](std::uint64_t first, std::span<std::uint8_t> block, const Move& move) {
      run.fill<std::uint8_t>(block, kKey, first);
      run.timed(Phase::write, [&] {
        move([&](hid_t memory, hid_t space, hid_t dxpl, std::uint8_t* transfer) {
          check(H5Dwrite(dataset.get(), H5T_NATIVE_UINT8, memory, space, dxpl, transfer),
                "write data");
        });
      });
      run.wrote(block.size());
    });
    run.timed(Phase::flush, [&] { check(H5Fflush(file.get(), H5F_SCOPE_LOCAL), "flush"); });
    run.timed(Phase::close, [&] {
      dataset.close();
      file.close();
    });
  }

  void read(Run& run) override {
    Handle file;
    Handle dataset;
    run.timed(Phase::open, [&] {
      const Handle fapl = run.fapl();
      file = Handle(H5Fopen(run.file().c_str(), H5F_ACC_RDONLY, fapl.get()), H5Fclose,
                    "open " + run.file());
      dataset = Handle(H5Dopen2(file.get(), "data", H5P_DEFAULT), H5Dclose, "open dataset data");
    });
    each_block(run, [&](std::uint64_t first, std::span<std::uint8_t> block, const Move& move) {
      run.timed(Phase::read, [&] {
        move([&](hid_t memory, hid_t space, hid_t dxpl, std::uint8_t* transfer) {
          check(H5Dread(dataset.get(), H5T_NATIVE_UINT8, memory, space, dxpl, transfer),
                "read data");
        });
      });
      run.verify<std::uint8_t>(block, kKey, first, "data");
      run.has_read(block.size());
    });
    run.timed(Phase::close_read, [&] {
      dataset.close();
      file.close();
    });
  }

 private:
  static constexpr std::uint64_t kKey = key_of("data");

  using Transfer = std::function<void(hid_t memory, hid_t space, hid_t dxpl, std::uint8_t* data)>;
  using Move = std::function<void(const Transfer&)>;

  // Calls action(first byte, buffer, move) for each of this rank's blocks; move(transfer) calls
  // transfer for all parts of the block. One clock for a block: transfers can be small.
  template <typename Action>
  void each_block(Run& run, const Action& action) {
    const hsize_t size = bytes(run.ranks());
    const hsize_t count = shape_.transfer;
    const Handle dxpl = run.dxpl(collective_);
    const Handle memory(H5Screate_simple(1, &count, nullptr), H5Sclose, "dataspace");
    const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, "dataspace");
    Scratch<std::vector<std::uint8_t>> buffer(run, shape_.block);
    const auto ranks = static_cast<std::uint64_t>(run.ranks());
    for (std::uint64_t segment = 0; segment < shape_.segments; ++segment) {
      const std::uint64_t block = segment * ranks + static_cast<std::uint64_t>(run.rank());
      const hsize_t begin = block * shape_.block;
      action(begin, std::span(*buffer), [&](const Transfer& transfer) {
        for (std::uint64_t done = 0; done < shape_.block; done += count) {
          const hsize_t first = begin + done;
          check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &first, nullptr, &count, nullptr),
                "select");
          transfer(memory.get(), space.get(), dxpl.get(), buffer->data() + done);
        }
      });
      run.transferred(dxpl.get());
      run.compute();
      run.progress(static_cast<double>(segment + 1) / static_cast<double>(shape_.segments));
    }
  }

  Shape shape_;
  bool collective_;
};

class IorKernel final : public Kernel {
 public:
  void add_options(CLI::App& app) override {
    add_count(app, "--block", shape_.block, "Contiguous bytes per rank and segment");
    add_count(app, "--transfer", shape_.transfer, "Bytes per call");
    add_count(app, "--segments", shape_.segments, "Segments");
  }
  void shrink() override {
    shape_.block = std::uint64_t{1} << 20U;
    shape_.transfer = std::uint64_t{256} << 10U;
  }
  Workloads workloads(int ranks) override {
    if (shape_.block % shape_.transfer != 0)
      throw Error("ior: --block must be a multiple of --transfer");
    Workloads all;
    all.push_back(std::make_unique<Ior>(shape_, false));
    if (ranks > 1) all.push_back(std::make_unique<Ior>(shape_, true));
    return all;
  }

 private:
  Shape shape_;
};

}  // namespace

std::unique_ptr<Kernel> make_ior() { return std::make_unique<IorKernel>(); }

}  // namespace headrace::bench

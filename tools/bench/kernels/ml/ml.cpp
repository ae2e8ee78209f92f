// A training run that reads batches of random images from one file, as h5py data loaders and the
// image workloads of MLPerf Storage do. https://github.com/mlcommons/storage
#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.hpp"
#include "kernel.hpp"
#include "kernels/ml/samples.hpp"
#include "kernels/shared/order.hpp"
#include "scratch.hpp"

namespace headrace::bench::ml {
namespace {

constexpr std::array<const char*, 3> kStorageNames{"contiguous", "chunked", "gzip"};

struct Shape {
  std::uint64_t samples = 2048;
  std::uint64_t batch = 32;
  std::uint64_t epochs = 1;
  std::uint64_t seed = 1;
};

class Ml final : public Workload {
 public:
  Ml(Storage storage, bool joined, const Shape& shape)
      : Workload(std::string(name_of(storage)) + (joined ? "-union" : "-sample")),
        storage_(storage),
        joined_(joined),
        shape_(shape) {}

  [[nodiscard]] JsonObject parameters() const override {
    JsonObject all;
    all.number("samples", static_cast<long long>(shape_.samples))
        .number("batch", static_cast<long long>(shape_.batch))
        .number("epochs", static_cast<long long>(shape_.epochs))
        .number("seed", static_cast<long long>(shape_.seed))
        .text("storage", name_of(storage_))
        .text("read", joined_ ? "union" : "sample");
    return all;
  }
  [[nodiscard]] std::uint64_t bytes(int /*ranks*/) const override {
    return shape_.samples * kSampleBytes;
  }
  [[nodiscard]] std::uint64_t bytes_read(int ranks) const override {
    return bytes(ranks) * shape_.epochs;
  }

  void write(Run& run) override {
    Handle file;
    Samples samples;
    run.timed(Phase::create, [&] {
      const Handle fapl = run.fapl();
      file = Handle(H5Fcreate(run.file().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl.get()), H5Fclose,
                    "create " + run.file());
      samples = Samples::create(file.get(), shape_.samples, storage_);
    });
    write_batches(run, samples);
    run.timed(Phase::flush, [&] { check(H5Fflush(file.get(), H5F_SCOPE_LOCAL), "flush"); });
    run.timed(Phase::close, [&] {
      samples.close();
      file.close();
    });
  }

  void read(Run& run) override {
    Handle file;
    Samples samples;
    run.timed(Phase::open, [&] {
      const Handle fapl = run.fapl();
      file = Handle(H5Fopen(run.file().c_str(), H5F_ACC_RDONLY, fapl.get()), H5Fclose,
                    "open " + run.file());
      samples = Samples::open(file.get(), shape_.samples, storage_);
    });
    for (std::uint64_t epoch = 0; epoch < shape_.epochs; ++epoch) read_epoch(run, samples, epoch);
    run.timed(Phase::close_read, [&] {
      samples.close();
      file.close();
    });
  }

 private:
  static const char* name_of(Storage storage) {
    return kStorageNames[static_cast<std::size_t>(storage)];
  }
  [[nodiscard]] Texture texture() const {
    return storage_ == Storage::gzip ? Texture::smooth : Texture::random;
  }

  // Each rank writes its share, a batch at a time. Collective, as compressed chunks must be
  // written; so all ranks make as many calls.
  void write_batches(Run& run, const Samples& samples) const {
    const auto ranks = static_cast<std::uint64_t>(run.ranks());
    const auto rank = static_cast<std::uint64_t>(run.rank());
    const std::uint64_t begin = shape_.samples * rank / ranks;
    const std::uint64_t end = shape_.samples * (rank + 1) / ranks;
    const std::uint64_t longest = (shape_.samples + ranks - 1) / ranks;
    const Handle dxpl = run.dxpl(true);
    Scratch<SampleBuffer> buffer(run, shape_.batch);
    for (std::uint64_t done = 0; done < longest; done += shape_.batch) {
      const std::uint64_t first = std::min(begin + done, end);
      const std::uint64_t count = std::min(shape_.batch, end - first);
      run.untimed([&] {
        for (std::uint64_t i = 0; i < count; ++i) buffer->fill(i, first + i, texture());
      });
      run.timed(Phase::write, [&] { samples.write(run, first, count, *buffer, dxpl); });
      run.wrote(count * kSampleBytes);
      run.progress(static_cast<double>(std::min(done + shape_.batch, longest)) /
                   static_cast<double>(longest));
    }
  }

  void read_epoch(Run& run, const Samples& samples, std::uint64_t epoch) const {
    const Handle dxpl = run.dxpl(false);
    Scratch<std::vector<std::uint64_t>> mine(run);
    run.untimed([&] {
      *mine = dealt(shuffled(shape_.samples, shape_.seed, epoch), run.rank(), run.ranks());
    });
    Scratch<SampleBuffer> buffer(run, shape_.batch);
    for (std::size_t done = 0; done < mine->size(); done += shape_.batch) {
      const std::span<std::uint64_t> batch =
          std::span(*mine).subspan(done, std::min<std::size_t>(shape_.batch, mine->size() - done));
      run.timed(Phase::read, [&] { read_batch(samples, batch, *buffer, dxpl); });
      run.untimed([&] {
        for (std::size_t i = 0; i < batch.size(); ++i) buffer->verify(i, batch[i], texture());
      });
      run.has_read(batch.size() * kSampleBytes);
      run.compute();
      run.progress((static_cast<double>(epoch) +
                    static_cast<double>(done + batch.size()) / static_cast<double>(mine->size())) /
                   static_cast<double>(shape_.epochs));
    }
  }

  // A union of selections has no order but the file's: so the batch is sorted.
  void read_batch(const Samples& samples, std::span<std::uint64_t> batch, SampleBuffer& buffer,
                  const Handle& dxpl) const {
    if (joined_) {
      std::ranges::sort(batch);
      samples.read_union(batch, buffer, dxpl);
      return;
    }
    for (std::size_t i = 0; i < batch.size(); ++i) samples.read_one(batch[i], i, buffer, dxpl);
  }

  Storage storage_;
  bool joined_;
  Shape shape_;
};

class MlKernel final : public Kernel {
 public:
  void add_options(CLI::App& app) override {
    add_count(app, "--samples-count", shape_.samples, "Images of 224 x 224 x 3 bytes, in all");
    add_count(app, "--batch", shape_.batch, "Samples per batch");
    add_count(app, "--epochs", shape_.epochs, "How often all samples are read");
    app.add_option("--seed", shape_.seed, "Chooses the order");
  }
  void shrink() override { shape_.samples = 64; }
  Workloads workloads(int ranks) override {
    if (shape_.samples < static_cast<std::uint64_t>(ranks))
      throw Error("ml: --samples-count must not be less than the number of ranks");
    Workloads all;
    for (const Storage storage : {Storage::contiguous, Storage::chunked, Storage::gzip})
      for (const bool joined : {false, true})
        all.push_back(std::make_unique<Ml>(storage, joined, shape_));
    return all;
  }

 private:
  Shape shape_;
};

}  // namespace
}  // namespace headrace::bench::ml

namespace headrace::bench {

std::unique_ptr<Kernel> make_ml() { return std::make_unique<ml::MlKernel>(); }

}  // namespace headrace::bench

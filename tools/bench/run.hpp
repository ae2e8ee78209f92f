// One repeat of a case: where its files are, how they are opened, and the clocks.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "hdf5.hpp"
#include "options.hpp"
#include "pattern.hpp"

namespace headrace::bench {

enum class Phase { create, select, write, flush, close, sync, compute, open, read, close_read };
inline constexpr std::array<std::string_view, 10> kPhaseNames{
    "create", "select", "write", "flush", "close", "sync", "compute", "open", "read", "close_read"};

// A signal asked the program to end; thrown between two timed operations.
struct Interrupted : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

class Run {
 public:
  // `folder` is the case's own; it exists. The caller keeps world and options alive.
  Run(World& world, const Options& options, std::string folder)
      : world_(world), options_(options), folder_(std::move(folder)) {}

  [[nodiscard]] World& world() { return world_; }
  [[nodiscard]] int rank() const { return world_.rank(); }
  [[nodiscard]] int ranks() const { return world_.size(); }
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const std::string& folder() const { return folder_; }
  // The path of the main file, or of another one in the case's folder.
  [[nodiscard]] std::string file(const std::string& name = "data.h5") const {
    return folder_ + '/' + name;
  }
  // A new access property list: mpio over all ranks under MPI, HDF5's default otherwise.
  [[nodiscard]] Handle fapl() const;
  // A new transfer property list for collective transfers under MPI, H5P_DEFAULT otherwise.
  [[nodiscard]] Handle dxpl(bool collective) const;
  // After a transfer with such a list: asks HDF5 whether a collective one was so.
  void transferred(hid_t dxpl);

  // Runs `work` and adds what it took to this rank's time in that phase. Throws Interrupted when
  // the program shall end.
  template <typename Work>
  decltype(auto) timed(Phase phase, Work&& work);
  // Runs what belongs to the harness, making or checking data: its time counts nowhere.
  template <typename Work>
  decltype(auto) untimed(Work&& work);

  // The emulated computation of a step: --compute, or a time of the kernel's own.
  void compute() { compute(options_.compute); }
  void compute(std::chrono::nanoseconds time);
  // Payload that this rank has written or read.
  void wrote(std::uint64_t bytes) { written_ += bytes; }
  void has_read(std::uint64_t bytes) { read_ += bytes; }
  // After that many rounds: makes the phases and bytes those of one.
  void divide(int rounds) {
    for (double& seconds : seconds_) seconds /= rounds;
    written_ /= static_cast<std::uint64_t>(rounds);
    read_ /= static_cast<std::uint64_t>(rounds);
  }
  // For --progress: the part of the case that is done, 0 to 1.
  void progress(double done) const;

  template <typename T>
  void fill(std::span<T> buffer, std::uint64_t key, std::uint64_t first,
            Texture texture = Texture::random) {
    untimed([&] { bench::fill<T>(buffer, key, first, texture); });
  }
  template <typename T>
  void verify(std::span<const T> buffer, std::uint64_t key, std::uint64_t first,
              std::string_view where, Texture texture = Texture::random) {
    untimed([&] { bench::verify<T>(buffer, key, first, where, texture); });
  }

  // For the sample: seconds of this rank.
  [[nodiscard]] double seconds(Phase phase) const {
    return seconds_[static_cast<std::size_t>(phase)];
  }
  [[nodiscard]] bool used(Phase phase) const { return used_[static_cast<std::size_t>(phase)]; }
  [[nodiscard]] double harness_seconds() const { return harness_; }
  [[nodiscard]] std::uint64_t written() const { return written_; }
  [[nodiscard]] std::uint64_t read() const { return read_; }
  [[nodiscard]] const std::string& label() const { return label_; }
  void label(std::string text) { label_ = std::move(text); }
  // The file driver in use, for the sample; a kernel that sets another one says so.
  [[nodiscard]] std::string driver() const {
    return driver_.empty() ? (world_.subfiling()  ? "subfiling"
                              : world_.parallel() ? "mpio"
                                                  : "sec2")
                           : driver_;
  }
  void driver(std::string name) { driver_ = std::move(name); }
  // Whether transfers that were to be collective were done independently or collectively.
  [[nodiscard]] bool was_independent() const { return was_independent_; }
  [[nodiscard]] bool was_collective() const { return was_collective_; }

 private:
  using Clock = std::chrono::steady_clock;
  // Adds the time from its making to its end, also when the work throws.
  class Stopwatch {
   public:
    explicit Stopwatch(double& sum) : sum_(sum) {}
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;
    ~Stopwatch() { sum_ += std::chrono::duration<double>(Clock::now() - start_).count(); }

   private:
    double& sum_;
    Clock::time_point start_ = Clock::now();
  };

  World& world_;
  const Options& options_;
  std::string folder_;
  std::string label_;
  std::string driver_;
  std::array<double, kPhaseNames.size()> seconds_{};
  std::array<bool, kPhaseNames.size()> used_{};
  double harness_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t read_ = 0;
  bool was_independent_ = false;
  bool was_collective_ = false;
};

// Throws Interrupted when a signal has asked the program to end.
void stop_if_interrupted();

template <typename Work>
decltype(auto) Run::timed(Phase phase, Work&& work) {
  stop_if_interrupted();
  used_[static_cast<std::size_t>(phase)] = true;
  const Stopwatch stopwatch(seconds_[static_cast<std::size_t>(phase)]);
  return std::forward<Work>(work)();
}

template <typename Work>
decltype(auto) Run::untimed(Work&& work) {
  const Stopwatch stopwatch(harness_);
  return std::forward<Work>(work)();
}

}  // namespace headrace::bench

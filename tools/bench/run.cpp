#include "run.hpp"

#include <csignal>
#include <cstdio>
#include <ctime>

#include "base/error.hpp"
#include "base/report/json.hpp"
#include "interrupt.hpp"

namespace headrace::bench {
namespace {

volatile std::sig_atomic_t interrupted = 0;

// H5FD_MPIO_COLLECTIVE and H5Pset_dxpl_mpio are declared in parallel builds' headers only.
constexpr int kCollective = 1;
using SetTransfer = herr_t(hid_t dxpl, int mode);
using GetTransfer = herr_t(hid_t dxpl, int* mode);

// H5D_mpio_actual_io_mode_t has a bit for chunks moved each way, and one for contiguous storage.
constexpr int kChunkIndependent = 1;

int transfer_property(const char* name, hid_t dxpl) {
  int mode = 0;
  check(reinterpret_cast<GetTransfer*>(hdf5_function(name))(dxpl, &mode), name);
  return mode;
}

}  // namespace

void throw_mismatch(std::string_view where, std::uint64_t index, const std::string& expected,
                    const std::string& found) {
  throw Error("wrong data in " + std::string(where) + ", element " + std::to_string(index) +
              ": expected " + expected + ", read " + found);
}

void catch_signals() {
  struct sigaction action{};
  action.sa_handler = [](int) { interrupted = 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void stop_if_interrupted() {
  if (interrupted != 0) throw Interrupted();
}

Handle Run::fapl() const {
  Handle list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "file access property list");
  world_.share(list.get());
  return list;
}

Handle Run::dxpl(bool collective) const {
  // HDF5 looks up each property of another list than the default.
  if (!collective || !world_.parallel())
    return {H5P_DEFAULT, [](hid_t /*list*/) { return 0; }, "transfer property list"};
  Handle list(H5Pcreate(H5P_DATASET_XFER), H5Pclose, "transfer property list");
  check(reinterpret_cast<SetTransfer*>(hdf5_function("H5Pset_dxpl_mpio"))(list.get(), kCollective),
        "H5Pset_dxpl_mpio");
  return list;
}

void Run::transferred(hid_t dxpl) {
  if (dxpl == H5P_DEFAULT) return;
  const int mode = transfer_property("H5Pget_mpio_actual_io_mode", dxpl);
  if (mode == 0 || (mode & kChunkIndependent) != 0) was_independent_ = true;
  if ((mode & ~kChunkIndependent) != 0) was_collective_ = true;
}

void Run::compute(std::chrono::nanoseconds time) {
  if (time.count() == 0) return;
  timed(Phase::compute, [&] {
    if (!options_.compute_works) {
      // A signal cuts it short, unlike std::this_thread::sleep_for.
      const auto whole = std::chrono::floor<std::chrono::seconds>(time);
      const timespec all{static_cast<time_t>(whole.count()), (time - whole).count()};
      nanosleep(&all, nullptr);
      return;
    }
    const auto end = Clock::now() + time;
    for (volatile double x = 1; Clock::now() < end;)
      for (int i = 0; i < 1000; ++i) x = x * 1.0000001 + 1e-9;
  });
}

void Run::progress(double done) const {
  if (!options_.progress || rank() != 0) return;
  const std::string line =
      JsonObject()
          .raw("progress",
               JsonObject().text("case", label_).raw("done", std::to_string(done)).str())
          .str();
  std::fprintf(stderr, "%s\n", line.c_str());
}

}  // namespace headrace::bench

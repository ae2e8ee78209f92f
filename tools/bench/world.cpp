#include "world.hpp"

#include <array>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "base/error.hpp"
#include "comm/mpi_communicator.hpp"
#include "hdf5.hpp"

namespace headrace::bench {
namespace {

// H5FDsubfiling.h declares it in builds with subfiling only. Null: what the environment says.
using SetSubfiling = herr_t(hid_t fapl, const void* config);

// Set by Open MPI's, MPICH's and Intel's launchers and by Slurm for their processes.
bool under_launcher() {
  constexpr std::array kSigns{"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMIX_RANK"};
  for (const char* sign : kSigns)
    if (std::getenv(sign) != nullptr) return true;
  return false;
}

void bind_library() {
  if (const std::string error = bind(reinterpret_cast<const void*>(&H5open)); !error.empty())
    throw Error(error);
}

double seconds_of(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }
std::int64_t nanoseconds_of(double seconds) { return static_cast<std::int64_t>(seconds * 1e9); }

}  // namespace

World::World(UseMpi use, bool subfiling) : subfiling_(subfiling) {
  bind_library();
  parallel_ = use == UseMpi::yes || (use == UseMpi::automatic && under_launcher());
  if (!parallel_) {
    if (subfiling_) throw Error("--subfiling needs MPI: start with mpiexec, or give --mpi yes");
    ranks_ = std::make_unique<SerialCommunicator>();
    return;
  }
  if (!library.parallel)
    throw Error("started under MPI, but " + library.path +
                " is a serial HDF5: give a parallel one with --hdf5, or --mpi no");
  const MpiTable& mpi = mpi_module();
  check_mpi(mpi, "MPI_Init", mpi.start(subfiling_));
  ranks_ = MpiCommunicator::world(mpi);
}

World::~World() {
  ranks_.reset();
  if (parallel_) mpi_module().finish();
}

void World::share(hid_t fapl) const {
  if (!parallel_) return;
  auto& comm = static_cast<MpiCommunicator&>(*ranks_);
  check_mpi(mpi_module(), "H5Pset_fapl_mpio",
            mpi_module().set_mpio(hdf5_function("H5Pset_fapl_mpio"), fapl, comm.handle()));
  if (!subfiling_) return;
  auto* const set = reinterpret_cast<SetSubfiling*>(hdf5_function("H5Pset_fapl_subfiling"));
  if (set(fapl, nullptr) < 0) throw Error("H5Pset_fapl_subfiling failed");
}

double World::largest(double mine) {
  return seconds_of(ranks_->reduce(nanoseconds_of(mine), Reduction::max));
}

double World::smallest(double mine) {
  return seconds_of(ranks_->reduce(nanoseconds_of(mine), Reduction::min));
}

std::uint64_t World::sum(std::uint64_t mine) {
  return static_cast<std::uint64_t>(
      ranks_->reduce(static_cast<std::int64_t>(mine), Reduction::sum));
}

std::uint64_t World::before(std::uint64_t mine) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(size()));
  ranks_->all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  return std::accumulate(all.begin(), all.begin() + rank(), std::uint64_t{0});
}

void World::on_first(const std::function<void()>& action) {
  std::string error;
  if (rank() == 0) try {
      action();
    } catch (const std::exception& caught) {
      error = caught.what();
    }
  std::uint64_t length = error.size();
  ranks_->broadcast(std::as_writable_bytes(std::span(&length, 1)), 0);
  if (length == 0) return;
  error.resize(length);
  ranks_->broadcast(std::as_writable_bytes(std::span(error.data(), error.size())), 0);
  throw Error(error);
}

Hdf5Library hdf5_library() { return {library.path, library.version, library.parallel}; }

}  // namespace headrace::bench

#include "together.hpp"

#include <dlfcn.h>
#include <hdf5.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "comm/mpi_communicator.hpp"
#include "comm/mpi_module.hpp"
#include "hdf5/api.hpp"
#include "hdf5/id.hpp"
#include "library.hpp"

namespace headrace::replay {
namespace {

void tell(const std::string& error) {
  std::fprintf(stderr, "headrace-replay: %s\n", error.c_str());
}

// What a rank tells, or all know that it has told.
class FirstError : public Error {
 public:
  using Error::Error;
};

// A parallel libhdf5, and MPI until it is destroyed.
class Parallel {
 public:
  explicit Parallel(const std::string& path) : library_(load(path)) {
    const std::string error = bind(dlsym(library_, "H5open"));
    if (!error.empty()) throw Error(error);
    if (!library.parallel) throw Error(path + " is a serial HDF5: ranks need a parallel one");
    mpi_ = &mpi_module();
    check_mpi(*mpi_, "MPI_Init", mpi_->start(false));
    ranks_ = MpiCommunicator::world(*mpi_);
  }
  Parallel(const Parallel&) = delete;
  Parallel& operator=(const Parallel&) = delete;
  ~Parallel() {
    ranks_.reset();
    mpi_->finish();
  }

  [[nodiscard]] Communicator& ranks() const { return *ranks_; }

  // Collective. Throws Error with what HDF5 says.
  void open_and_close(const std::string& file, bool writes) const {
    if (look_up<decltype(H5open)>(library_, "H5open")() < 0) throw Error("HDF5 does not start");
    h5.Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    // Closed before MPI ends: it has a communicator.
    const Id<Kind::plist> access(look_up<decltype(H5Pcreate)>(
        library_, "H5Pcreate")(*look_up<hid_t>(library_, "H5P_CLS_FILE_ACCESS_ID_g")));
    auto& comm = static_cast<MpiCommunicator&>(*ranks_);
    check_mpi(*mpi_, "H5Pset_fapl_mpio",
              mpi_->set_mpio(dlsym(library_, "H5Pset_fapl_mpio"), access.get(), comm.handle()));
    const hid_t id = h5.Fopen(file.c_str(), writes ? 1 : 0, access.get());
    if (id < 0 || look_up<decltype(H5Fclose)>(library_, "H5Fclose")(id) < 0)
      throw Error(file + ": " + innermost_error(library_));
  }

 private:
  void* library_;
  const MpiTable* mpi_ = nullptr;
  CommunicatorHandle ranks_;
};

// Collective. Throws FirstError on all ranks, with what the first one says that has failed.
template <typename Act>
void do_all(Communicator& ranks, const sidecar::Places& places, const Act& act) {
  std::string mine;
  try {
    act();
  } catch (const std::exception& error) {
    mine = text_of(places, error);
  }
  for (const std::vector<std::byte>& one : ranks.all_gather_any(std::as_bytes(std::span(mine))))
    if (!one.empty())
      throw FirstError(std::string(reinterpret_cast<const char*>(one.data()), one.size()));
}

void act(const Parallel& hdf5, const sidecar::Places& places) {
  Communicator& ranks = hdf5.ranks();
  const auto open = [&](const std::string& file, bool writes) {
    do_all(ranks, places, [&] { hdf5.open_and_close(file, writes); });
  };
  if (places.copy.empty()) return open(places.file, true);
  std::optional<sidecar::LogLocks> locks;
  std::optional<sidecar::WorkingCopy> copy;
  const auto first = [&](const auto& act) {
    do_all(ranks, places, [&] {
      if (ranks.rank() == 0) act();
    });
  };
  first([&] { locks.emplace(places.file); });
  open(places.file, false);
  first([&] { copy.emplace(places, sidecar::logs_beside(places.file), Throttle(0)); });
  open(places.copy, true);
  first([&] { finish(*copy); });
}

}  // namespace

int put_in_order_together(const std::string& hdf5, const sidecar::Places& places) {
  if (places.copy.empty()) std::signal(SIGINT, SIG_IGN);  // a file that is half written is none
  try {
    const Parallel parallel(hdf5);
    try {
      act(parallel, places);
      return EXIT_SUCCESS;
    } catch (const FirstError& error) {
      if (parallel.ranks().rank() == 0) tell(error.what());
      parallel.ranks().barrier();  // launchers kill the others when one ends so
    }
  } catch (const std::exception& error) {
    tell(error.what());
  }
  return EXIT_FAILURE;
}

}  // namespace headrace::replay

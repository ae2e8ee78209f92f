// The MPI module, the one part of Headrace that is compiled with mpi.h: once for each MPI on the
// machine, and loaded for files opened with a communicator. See comm/mpi_table.hpp.
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "comm/mpi_table.hpp"

namespace headrace {
namespace {

constexpr std::size_t kMaxCount = 1U << 30U;  // MPI counts in int

MPI_Comm comm_of(void* handle) { return *static_cast<MPI_Comm*>(handle); }

bool running() {
  int started = 0;
  int ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started != 0 && ended == 0;
}

// HDF5 duplicates the list's communicator and hints for whoever asks. There is no communicator when
// HDF5 has started MPI itself (HDF5_DRIVER=mpio): the driver then takes MPI_COMM_WORLD.
int duplicate(void* get_mpi_params, std::int64_t fapl, MPI_Comm* comm) {
  using GetMpiParams = int(std::int64_t fapl, MPI_Comm* comm, MPI_Info* info);
  MPI_Info info = MPI_INFO_NULL;
  if (reinterpret_cast<GetMpiParams*>(get_mpi_params)(fapl, comm, &info) < 0)
    return kMpiNoParameters;
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  if (*comm != MPI_COMM_NULL) return MPI_SUCCESS;
  return MPI_Comm_dup(MPI_COMM_WORLD, comm);
}

// `make` fills in a communicator that is then ours.
template <typename Make>
int open_with(const Make& make, void** handle, int* rank, int* ranks) {
  if (!running()) return kMpiNotRunning;
  auto* const comm = new (std::nothrow) MPI_Comm(MPI_COMM_NULL);
  if (comm == nullptr) return kMpiNoMemory;
  int code = make(comm);
  if (code == MPI_SUCCESS) code = MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
  if (code == MPI_SUCCESS) code = MPI_Comm_rank(*comm, rank);
  if (code == MPI_SUCCESS) code = MPI_Comm_size(*comm, ranks);
  if (code == MPI_SUCCESS) {
    *handle = static_cast<void*>(comm);
    return code;
  }
  if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
  delete comm;
  return code;
}

int open(void* get_mpi_params, std::int64_t fapl, void** handle, int* rank, int* ranks) {
  return open_with([&](MPI_Comm* comm) { return duplicate(get_mpi_params, fapl, comm); }, handle,
                   rank, ranks);
}

int start(bool threads) {
  int started = 0;
  MPI_Initialized(&started);
  int level = MPI_THREAD_SINGLE;
  const int wanted = threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  const int error =
      started != 0 ? MPI_Query_thread(&level) : MPI_Init_thread(nullptr, nullptr, wanted, &level);
  return error == MPI_SUCCESS && level < wanted ? MPI_ERR_OTHER : error;
}

int finish() { return running() ? MPI_Finalize() : MPI_SUCCESS; }

int world(void** handle, int* rank, int* ranks) {
  return open_with([](MPI_Comm* comm) { return MPI_Comm_dup(MPI_COMM_WORLD, comm); }, handle, rank,
                   ranks);
}

int set_mpio(void* set_fapl_mpio, std::int64_t fapl, void* comm) {
  using SetFaplMpio = int(std::int64_t fapl, MPI_Comm comm, MPI_Info info);
  const int failed =
      reinterpret_cast<SetFaplMpio*>(set_fapl_mpio)(fapl, comm_of(comm), MPI_INFO_NULL);
  return failed < 0 ? kMpiNoParameters : MPI_SUCCESS;
}

void close(void* handle) {
  auto* const comm = static_cast<MPI_Comm*>(handle);
  // A file may be closed when the process exits, after MPI has freed everything.
  if (running()) MPI_Comm_free(comm);
  delete comm;
}

int barrier(void* handle) { return running() ? MPI_Barrier(comm_of(handle)) : kMpiNotRunning; }

int broadcast(void* handle, void* bytes, std::size_t size, int root) {
  if (!running()) return kMpiNotRunning;
  auto* next = static_cast<unsigned char*>(bytes);
  int code = MPI_SUCCESS;
  do {  // at least once: an empty one is collective too
    const std::size_t piece = std::min(size, kMaxCount);
    code = MPI_Bcast(next, static_cast<int>(piece), MPI_BYTE, root, comm_of(handle));
    next += piece;
    size -= piece;
  } while (code == MPI_SUCCESS && size > 0);
  return code;
}

int all_gather(void* handle, const void* mine, int size, void* all) {
  if (!running()) return kMpiNotRunning;
  return MPI_Allgather(mine, size, MPI_BYTE, all, size, MPI_BYTE, comm_of(handle));
}

int all_gather_v(void* handle, const void* mine, void* all, const int* sizes, const int* places) {
  if (!running()) return kMpiNotRunning;
  MPI_Comm comm = comm_of(handle);
  int rank = 0;
  const int code = MPI_Comm_rank(comm, &rank);
  if (code != MPI_SUCCESS) return code;
  return MPI_Allgatherv(mine, sizes[rank], MPI_BYTE, all, sizes, places, MPI_BYTE, comm);
}

MPI_Op operation_of(Reduction how) {
  switch (how) {
    case Reduction::sum:
      return MPI_SUM;
    case Reduction::max:
      return MPI_MAX;
    case Reduction::min:
      return MPI_MIN;
  }
  return MPI_OP_NULL;
}

int reduce(void* handle, std::int64_t mine, Reduction how, std::int64_t* result) {
  if (!running()) return kMpiNotRunning;
  return MPI_Allreduce(&mine, result, 1, MPI_INT64_T, operation_of(how), comm_of(handle));
}

int lowest_on_node(void* handle, int* rank) {
  if (!running()) return kMpiNotRunning;
  MPI_Comm node = MPI_COMM_NULL;
  int code = MPI_Comm_rank(comm_of(handle), rank);
  if (code != MPI_SUCCESS) return code;
  code = MPI_Comm_split_type(comm_of(handle), MPI_COMM_TYPE_SHARED, *rank, MPI_INFO_NULL, &node);
  if (code != MPI_SUCCESS) return code;
  code = MPI_Bcast(rank, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  return code;
}

// Of a list's hints and what is to be put in, where it has none of that name.
int add_hints(MPI_Info info, const char* const* pairs, std::size_t count) {
  int code = MPI_SUCCESS;
  for (std::size_t i = 0; i + 1 < count && code == MPI_SUCCESS; i += 2) {
    int length = 0;
    int found = 0;
    code = MPI_Info_get_valuelen(info, pairs[i], &length, &found);
    if (code == MPI_SUCCESS && found == 0) code = MPI_Info_set(info, pairs[i], pairs[i + 1]);
  }
  return code;
}

int set_hints(void* get_mpi_params, void* set_mpi_params, std::int64_t fapl,
              const char* const* pairs, std::size_t count) {
  using GetMpiParams = int(std::int64_t fapl, MPI_Comm* comm, MPI_Info* info);
  using SetMpiParams = int(std::int64_t fapl, MPI_Comm comm, MPI_Info info);
  if (!running()) return kMpiNotRunning;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Info info = MPI_INFO_NULL;
  if (reinterpret_cast<GetMpiParams*>(get_mpi_params)(fapl, &comm, &info) < 0)
    return kMpiNoParameters;
  int code = info == MPI_INFO_NULL ? MPI_Info_create(&info) : MPI_SUCCESS;
  if (code == MPI_SUCCESS) code = add_hints(info, pairs, count);
  if (code == MPI_SUCCESS && comm != MPI_COMM_NULL &&
      reinterpret_cast<SetMpiParams*>(set_mpi_params)(fapl, comm, info) < 0)
    code = kMpiNoParameters;
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  return code;
}

int place_in_file(const void* mpi_file, int* rank, int* ranks) {
  if (!running()) return kMpiNotRunning;
  MPI_Group group = MPI_GROUP_NULL;
  int code = MPI_File_get_group(*static_cast<const MPI_File*>(mpi_file), &group);
  if (code != MPI_SUCCESS) return code;
  code = MPI_Group_rank(group, rank);
  if (code == MPI_SUCCESS) code = MPI_Group_size(group, ranks);
  MPI_Group_free(&group);
  return code;
}

void error_text(int code, char* text, std::size_t size) {
  char whole[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, whole, &length) != MPI_SUCCESS) std::strcpy(whole, "unknown error");
  std::strncpy(text, whole, size - 1);
  text[size - 1] = '\0';
}

#ifdef OPEN_MPI
constexpr const char* kKind = "openmpi";
#else
constexpr const char* kKind = "mpich";
#endif

constexpr MpiTable kTable{
    .version = kMpiTableVersion,
    .kind = kKind,
    .version_text = &PMPI_Get_library_version,  // a name that no profiling tool takes over
    .open = &open,
    .close = &close,
    .barrier = &barrier,
    .broadcast = &broadcast,
    .all_gather = &all_gather,
    .all_gather_v = &all_gather_v,
    .reduce = &reduce,
    .lowest_on_node = &lowest_on_node,
    .start = &start,
    .finish = &finish,
    .world = &world,
    .set_mpio = &set_mpio,
    .set_hints = &set_hints,
    .place_in_file = &place_in_file,
    .error_text = &error_text,
};

}  // namespace
}  // namespace headrace

extern "C" __attribute__((visibility("default"))) const headrace::MpiTable* headrace_mpi_table() {
  return &headrace::kTable;
}

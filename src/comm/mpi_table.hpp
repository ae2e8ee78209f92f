// What the core and an MPI module (mpi_module.cpp) agree on: a table of C functions. The core is
// built without MPI, so nothing of MPI's types shows: communicators are opaque pointers.
//
// Each function returns 0, one of the codes below, or a positive MPI error code. None throws,
// aborts or prints; none changes the program's own communicators.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace {

// Grows with every change to this file.
inline constexpr std::uint32_t kMpiTableVersion = 6;
inline constexpr const char* kMpiTableSymbol = "headrace_mpi_table";

inline constexpr int kMpiNoParameters = -1;  // HDF5 could not tell; its records are on the stack
inline constexpr int kMpiNotRunning = -2;    // before MPI_Init or after MPI_Finalize
inline constexpr int kMpiNoMemory = -3;

enum class Reduction { sum, max, min };

struct MpiTable {
  std::uint32_t version;
  const char* kind;  // of the mpi.h that the module was compiled with: "openmpi" or "mpich"
  // The MPI library that the module is bound to. It must be the one that HDF5 uses.
  int (*version_text)(char* text, int* length);

  // Collective: a duplicate of the communicator in a file access property list.
  int (*open)(void* get_mpi_params, std::int64_t fapl, void** comm, int* rank, int* ranks);
  void (*close)(void* comm);

  // Collective over `comm`.
  int (*barrier)(void* comm);
  int (*broadcast)(void* comm, void* bytes, std::size_t size, int root);
  int (*all_gather)(void* comm, const void* mine, int size, void* all);
  // Of each rank as many bytes as sizes[rank], to places[rank] in `all`.
  int (*all_gather_v)(void* comm, const void* mine, void* all, const int* sizes, const int* places);
  int (*reduce)(void* comm, std::int64_t mine, Reduction how, std::int64_t* result);
  // The lowest rank of those that share memory with this one.
  int (*lowest_on_node)(void* comm, int* rank);

  // For programs that are told at run time whether to use MPI. Collective over all processes.
  // MPI_Init, unless that has happened; `threads`: with MPI_THREAD_MULTIPLE, or it fails.
  int (*start)(bool threads);
  int (*finish)();                                   // MPI_Finalize, unless that has happened
  int (*world)(void** comm, int* rank, int* ranks);  // a duplicate of MPI_COMM_WORLD
  // H5Pset_fapl_mpio with this communicator; collective over it.
  int (*set_mpio)(void* set_fapl_mpio, std::int64_t fapl, void* comm);

  // Local: puts hints for MPI-IO into a file access property list that has a communicator, but for
  // those that are in it. `pairs`: a key and a value by turns, `count` of both together.
  int (*set_hints)(void* get_mpi_params, void* set_mpi_params, std::int64_t fapl,
                   const char* const* pairs, std::size_t count);
  int (*place_in_file)(const void* mpi_file, int* rank, int* ranks);  // mpi_file: MPI_File*
  void (*error_text)(int code, char* text, std::size_t size);
};

// What the module exports as headrace_mpi_table.
using MpiTableFunction = const MpiTable*();

}  // namespace headrace

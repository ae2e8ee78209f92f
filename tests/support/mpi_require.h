/* What C programs over MPI check with: a failure ends all ranks. */
#ifndef MPI_REQUIRE_H
#define MPI_REQUIRE_H

#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>

#define REQUIRE(condition) mpi_require((condition) != 0, #condition, __FILE__, __LINE__)

static inline void mpi_require(int good, const char *what, const char *file, int line) {
  if (good) return;
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "rank %d, %s, line %d: not %s\n", rank, file, line, what);
  H5Eprint2(H5E_DEFAULT, stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

#endif

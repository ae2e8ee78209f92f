/* Preloaded into ranks: a test of HDF5's goes on behind a check that fails, as it does where it is
 * verbose, and counts it. */
int MPI_Abort(void *communicator, int status);

int MPI_Abort(void *communicator, int status) {
  (void)communicator;
  (void)status;
  return 0;
}

/* mpi_refused CREATED OPENED: ranks create one file and open another, whatever that comes to. Each
 * prints a line of JSON: the errors of both, empty where there was none. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "mpi_require.h"

static herr_t add(unsigned n, const H5E_error2_t *error, void *data) {
  (void)n;
  char *text = data;
  size_t length = strlen(text);
  for (const char *from = error->desc; from != NULL && *from != 0 && length < 4000; ++from)
    text[length++] = *from == '"' || *from == '\\' || *from < ' ' ? ' ' : *from;
  text[length] = 0;
  strcat(text, "; ");
  return 0;
}

static void tell(const char *call, hid_t file) {
  static char text[5000];
  text[0] = 0;
  if (file < 0) H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, add, text);
  printf(",\"%s\":\"%s\"", call, text);
  if (file >= 0) REQUIRE(H5Fclose(file) >= 0);
}

int main(int argc, char **argv) {
  int rank;
  static char out[16384];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  setvbuf(stdout, out, _IOFBF, sizeof out); /* the line as one write */
  REQUIRE(argc == 3);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
  printf("{\"rank\":%d", rank);
  tell("create", H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, fapl));
  tell("open", H5Fopen(argv[2], H5F_ACC_RDWR, fapl));
  printf("}\n");
  fflush(stdout);
  H5Pclose(fapl);
  MPI_Finalize();
  return 0;
}

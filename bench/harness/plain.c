/* What the kernel `ior` does, written as a plain program with one clock around it: to tell what the
 * harness of headrace-bench adds.
 *
 *   plain FILE BLOCK TRANSFER SEGMENTS    prints the seconds from H5Fcreate to H5Fclose, less those
 *                                         for making the data
 */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void check(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "plain: %s failed\n", what);
  exit(1);
}

// New data for each block, as a program has. Returns how long that took.
static double fill(unsigned char* buffer, hsize_t size, hsize_t first) {
  const double start = now();
  for (hsize_t i = 0; i < size; ++i) buffer[i] = (unsigned char)((first + i) * 2654435761U >> 24U);
  return now() - start;
}

int main(int argc, char** argv) {
  check(argc == 5, "usage");
  const hsize_t block = strtoull(argv[2], NULL, 10);
  const hsize_t transfer = strtoull(argv[3], NULL, 10);
  const hsize_t segments = strtoull(argv[4], NULL, 10);
  const hsize_t size = block * segments;
  unsigned char* buffer = malloc(block);
  check(buffer != NULL, "malloc");
  H5open();

  const double start = now();
  const hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t memory = H5Screate_simple(1, &transfer, NULL);
  const hid_t space = H5Screate_simple(1, &size, NULL);
  const hid_t dataset =
      H5Dcreate2(file, "data", H5T_STD_U8LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  double filling = 0;
  for (hsize_t first = 0; first < size; first += transfer) {
    if (first % block == 0) filling += fill(buffer, block, first);
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &transfer, NULL) >= 0, "select");
    check(H5Dwrite(dataset, H5T_NATIVE_UINT8, memory, space, H5P_DEFAULT, buffer + first % block) >=
              0,
          "write");
  }
  check(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0, "flush");
  check(H5Dclose(dataset) >= 0, "close dataset");
  check(H5Fclose(file) >= 0, "close file");
  const double seconds = now() - start - filling;

  H5Sclose(memory);
  H5Sclose(space);
  free(buffer);
  printf("%.9f\n", seconds);
  return 0;
}

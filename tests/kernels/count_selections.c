/* For LD_PRELOAD: counts calls of H5Sselect_hyperslab with H5S_SELECT_OR in the libhdf5 at LIBHDF5,
 * and writes their number to the file SELECTIONS. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*Select)(long, int, const void*, const void*, const void*, const void*);
static long count;

int H5Sselect_hyperslab(long space, int op, const void* start, const void* stride,
                        const void* number, const void* block) {
  static Select next;
  if (next == NULL)
    next = (Select)dlsym(dlopen(getenv("LIBHDF5"), RTLD_LAZY), "H5Sselect_hyperslab");
  count += op == 1; /* H5S_SELECT_OR */
  return next(space, op, start, stride, number, block);
}

__attribute__((destructor)) static void tell(void) {
  const char* name = getenv("SELECTIONS");
  FILE* file = name == NULL ? NULL : fopen(name, "w");
  if (file == NULL) return;
  fprintf(file, "%ld\n", count);
  fclose(file);
}

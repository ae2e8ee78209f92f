/* In the place of a libhdf5 that the program is linked with: whom its functions are called by. */
#define _GNU_SOURCE
#include <unistd.h>

int calls, from_workers;

static int called(void) {
  ++calls;
  from_workers += gettid() != getpid();
  return 0;
}

int H5Epush1(void) { return called(); }
int H5Epush2(void) { return called(); }

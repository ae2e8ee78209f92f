/* What the programs of this folder check their calls with: a failure ends the program. */
#ifndef REQUIRE_H
#define REQUIRE_H

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>

#define REQUIRE(call) require((call) >= 0, #call, __LINE__)
#define EXPECT(condition) require(condition, #condition, __LINE__)

static void require(int good, const char *what, int line) {
  if (good) return;
  fprintf(stderr, "line %d: %s\n", line, what);
  H5Eprint2(H5E_DEFAULT, stderr);
  exit(1);
}

#endif

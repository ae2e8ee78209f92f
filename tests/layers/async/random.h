/* What the programs of many requests have in common: random numbers, and boxes of elements. */
#ifndef RANDOM_H
#define RANDOM_H

#include <hdf5.h>
#include <stdint.h>

#include "require.h"

static uint64_t state;
static unsigned below(unsigned limit) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % limit;
}

static hid_t box_of(const hsize_t *dims, const hsize_t *start, const hsize_t *count) {
  hid_t space = H5Screate_simple(2, dims, NULL);
  REQUIRE(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
  return space;
}

#endif

/* Preloaded into the ranks of HDF5's tests, some of which seed their random numbers with the time:
 * runs that are compared must do the same. */
#include <time.h>

time_t time(time_t *out) {
  const time_t now = 1700000000;
  if (out) *out = now;
  return now;
}

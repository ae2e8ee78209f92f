/* What a program may tell the cache layer (docs/guide/cache.md). Nothing is linked, and a program
 * that makes these calls also runs on native HDF5.
 *
 * Call them wherever HDF5 may be called: on one thread at a time, unless the library is
 * thread-safe. None is collective. HDF5's headers must be those of the library that is linked.
 */
#ifndef HEADRACE_CACHE_H
#define HEADRACE_CACHE_H

#include <headrace/operation.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of headrace_expect(). */
typedef struct headrace_expect_t {
  size_t size; /* of this struct */
  size_t n;
  const uint64_t *chunks;
} headrace_expect_t;

/* The operation's name, for HDF5. */
#define HEADRACE_OPERATION_EXPECT "headrace.cache.expect"

/* The program is about to read these `n` chunks of a dataset, in this order: workers decode the
 * next ones beside the calls that read them. Chunks are numbered from 0, row by row of the grid
 * that they make. It replaces what was said before; the array is not needed any more when the call
 * returns.
 *
 * Returns HEADRACE_DONE; HEADRACE_ABSENT where nothing keeps chunks of the dataset;
 * HEADRACE_FAILED, with HDF5's error stack telling why, for a number that no chunk has. */
static inline int headrace_expect(hid_t dataset, size_t n, const uint64_t *chunks) {
  headrace_expect_t expected = {sizeof expected, n, chunks};
  return headrace_operation_(dataset, 0, HEADRACE_OPERATION_EXPECT, &expected);
}

#ifdef __cplusplus
}
#endif

#endif /* HEADRACE_CACHE_H */

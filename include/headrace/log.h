/* Many boxes of a dataset at once, for programs that write thousands of small pieces.
 *
 * To build the union of thousands of hyperslabs takes a program longer than to write them, and one
 * H5Dwrite for each is the slowest way of all. These take arrays of boxes instead. Nothing is
 * linked: the log layer (docs/guide/log.md) appends them by one call; without it they are written
 * one by one, so a program that makes these calls also runs on native HDF5.
 *
 *     #include <headrace/log.h>
 *
 *     hsize_t start[N][2], count[N][2];
 *     ...
 *     if (headrace_write_n(dataset, H5T_NATIVE_DOUBLE, N, &start[0][0], &count[0][0], values) < 0)
 *       H5Eprint(H5E_DEFAULT, stderr);
 *
 * Call them wherever HDF5 may be called: on one thread at a time, unless the library is
 * thread-safe. None is collective. HDF5's headers must be those of the library that is linked.
 */
#ifndef HEADRACE_LOG_H
#define HEADRACE_LOG_H

#include <headrace/operation.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of headrace_write_n(). */
typedef struct headrace_write_n_t {
  size_t size; /* of this struct */
  hid_t mem_type;
  size_t n;
  const hsize_t *start;
  const hsize_t *count;
  const void *buffer;
} headrace_write_n_t;

/* The operation's name, for HDF5. */
#define HEADRACE_OPERATION_WRITE_N "headrace.log.write_n"

/* Used by headrace_write_n() where the layer is absent. */
static inline int headrace_write_each_(hid_t dataset, const headrace_write_n_t *boxes) {
  const hid_t space = H5Dget_space(dataset);
  const int rank = H5Sget_simple_extent_ndims(space);
  const char *from = (const char *)boxes->buffer;
  const size_t element = H5Tget_size(boxes->mem_type);
  int result = rank > 0 && element > 0 ? HEADRACE_DONE : HEADRACE_FAILED;
  for (size_t i = 0; i < boxes->n && result == HEADRACE_DONE; ++i) {
    const hsize_t *start = boxes->start + i * (size_t)rank;
    const hsize_t *count = boxes->count + i * (size_t)rank;
    hsize_t elements = 1;
    for (int d = 0; d < rank; ++d) elements *= count[d];
    if (elements == 0) continue;
    const hid_t memory = H5Screate_simple(1, &elements, NULL);
    if (memory < 0 || H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) < 0 ||
        H5Dwrite(dataset, boxes->mem_type, memory, space, H5P_DEFAULT, from) < 0)
      result = HEADRACE_FAILED;
    if (memory >= 0) H5Sclose(memory);
    from += elements * element;
  }
  if (space >= 0) H5Sclose(space);
  return result;
}

/* Writes `n` boxes of a dataset, in their order: where they overlap, the later ones win. Of box i,
 * start[i * rank ...] and count[i * rank ...] are the first element and the number of elements in
 * each dimension; a box without elements is left out. `buffer` has the elements of all boxes one
 * after the other, each box row by row, in type `mem_type`. The arrays are not needed any more when
 * the call returns.
 *
 * Returns HEADRACE_DONE, or HEADRACE_FAILED with HDF5's error stack telling why: a box that reaches
 * beyond the dataset's extent, say. Boxes before it may then have been written. */
static inline int headrace_write_n(hid_t dataset, hid_t mem_type, size_t n, const hsize_t *start,
                                   const hsize_t *count, const void *buffer) {
  headrace_write_n_t boxes = {sizeof boxes, mem_type, n, start, count, buffer};
  const int result = headrace_operation_(dataset, 0, HEADRACE_OPERATION_WRITE_N, &boxes);
  return result == HEADRACE_ABSENT ? headrace_write_each_(dataset, &boxes) : result;
}

/* Returns a copy of dataspace `space` in which exactly the `n` >= 1 boxes are selected, which the
 * caller closes; negative, with an entry on the error stack, when HDF5 refuses. The union is built
 * in halves: to add one box after the other takes HDF5 a time that grows with the square of `n`.
 * Elements of a union are transferred in the order of the dataset, not of the boxes. */
static inline hid_t headrace_select_n(hid_t space, size_t n, const hsize_t *start,
                                      const hsize_t *count) {
  if (n <= 1) {
    const hid_t one = H5Scopy(space);
    if (one >= 0 && n == 1 &&
        H5Sselect_hyperslab(one, H5S_SELECT_SET, start, NULL, count, NULL) >= 0)
      return one;
    if (one >= 0) H5Sclose(one);
    return H5I_INVALID_HID;
  }
  const size_t half = n / 2;
  const size_t rank = (size_t)H5Sget_simple_extent_ndims(space);
  const hid_t low = headrace_select_n(space, half, start, count);
  const hid_t high =
      low < 0 ? low : headrace_select_n(space, n - half, start + half * rank, count + half * rank);
  const hid_t both = high < 0 ? high : H5Scombine_select(low, H5S_SELECT_OR, high);
  if (low >= 0) H5Sclose(low);
  if (high >= 0) H5Sclose(high);
  return both;
}

#ifdef __cplusplus
}
#endif

#endif /* HEADRACE_LOG_H */

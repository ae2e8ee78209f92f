/* What a program may ask of the stripe layer: make one file of these pieces when I close it, and
 * which of them has this rank written to?
 *
 * Nothing is linked: the calls go to the layer through HDF5's optional operations, and do nothing
 * where there is no such layer, so a program that makes them also runs on native HDF5, without an
 * entry on the error stack. They return what those of headrace/async.h return; HEADRACE_ABSENT also
 * of an ordinary file.
 *
 *     #include <headrace/stripe.h>
 *
 *     headrace_fuse(file, HEADRACE_FUSE_BACKGROUND);
 *     H5Fclose(file);        // becomes one file, while the program computes
 *
 * Call them wherever HDF5 may be called: on one thread at a time, unless the library is
 * thread-safe. HDF5's headers must be those of the library that is linked.
 */
#ifndef HEADRACE_STRIPE_H
#define HEADRACE_STRIPE_H

#include <headrace/operation.h>

#ifdef __cplusplus
extern "C" {
#endif

/* When a file that is in pieces, and open for writing, becomes one file: the option `fuse` of the
 * layer (docs/guide/stripe.md). */
enum { HEADRACE_FUSE_LATER = 0, HEADRACE_FUSE_CLOSE = 1, HEADRACE_FUSE_BACKGROUND = 2 };

/* Of headrace_fuse(). */
typedef struct headrace_fuse_t {
  size_t size; /* of this struct */
  int when;
} headrace_fuse_t;

/* The subfiles of a file, as headrace_subfiles() tells them. Strings and arrays are the layer's,
 * and there until the file is closed. */
typedef struct headrace_subfiles_t {
  size_t size;             /* of this struct; set by headrace_subfiles() */
  size_t count;            /* of subfiles */
  uint64_t stripe;         /* in bytes: stripe s of the file is in subfile s % count */
  const char *const *path; /* of each, `count` of them */
  const char *written;     /* of each, whether this rank has written to it: 0 or 1 */
} headrace_subfiles_t;

/* The operations' names, for HDF5. */
#define HEADRACE_OPERATION_FUSE "headrace.stripe.fuse"
#define HEADRACE_OPERATION_SUBFILES "headrace.stripe.subfiles"

/* Says for this file what the option `fuse` says for all: one of the constants above. All ranks
 * that have the file open make the call, with the same constant; it is not collective, but the
 * close is.
 */
static inline int headrace_fuse(hid_t file, int when) {
  headrace_fuse_t args = {sizeof args, when};
  return headrace_operation_(file, 1, HEADRACE_OPERATION_FUSE, &args);
}

/* Fills `subfiles`, with zeros if the layer is absent. Not collective. Below the async layer a
 * process counts as having written to all subfiles. */
static inline int headrace_subfiles(hid_t file, headrace_subfiles_t *subfiles) {
  const headrace_subfiles_t none = {sizeof none, 0, 0, NULL, NULL};
  *subfiles = none;
  return headrace_operation_(file, 1, HEADRACE_OPERATION_SUBFILES, subfiles);
}

#ifdef __cplusplus
}
#endif

#endif /* HEADRACE_STRIPE_H */

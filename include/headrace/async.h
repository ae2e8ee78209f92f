/* What a program may say to the async layer: wait, pause, resume, how far are you?
 *
 * Nothing is linked: the calls go to the layer through HDF5's optional operations, and do nothing
 * where there is no such layer, so a program that makes them also runs on native HDF5, without an
 * entry on the error stack.
 *
 *     #include <headrace/async.h>
 *
 *     headrace_pause(file);      // the workers leave the cores and the storage to the program
 *     exchange_halos();
 *     headrace_resume(file);
 *     ...
 *     if (headrace_wait(file) < 0) H5Eprint(H5E_DEFAULT, stderr);
 *
 * Every function returns one of
 *   HEADRACE_DONE    done
 *   HEADRACE_ABSENT  nothing was done: the layer is not there (or HDF5 is older than 1.14), or has
 *                    only its driver in the process (seat=vfd)
 *   HEADRACE_FAILED  it failed; HDF5's error stack tells why. Invalid ids fail or are absent.
 *
 * Call them wherever HDF5 may be called: on one thread at a time, unless the library is
 * thread-safe. None is collective. HDF5's headers must be those of the library that is linked.
 */
#ifndef HEADRACE_ASYNC_H
#define HEADRACE_ASYNC_H

#include <headrace/operation.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How far the writes to a file are, in bytes: of its data, compressed if it is, and of its
 * metadata. What is written to the same place again before it is in the file counts once. All are 0
 * of a file whose writes are not staged (docs/guide/async.md tells which), but for `chunks`. */
typedef struct headrace_progress_t {
  size_t size;       /* of this struct; set by headrace_progress() */
  uint64_t accepted; /* written since the file was opened */
  uint64_t stored;   /* of these, in the file; accepted is stored + staged */
  uint64_t staged;   /* of these, still in memory */
  uint64_t chunks;   /* of chunks, not compressed, that come on top of `accepted` */
  uint64_t memory;   /* what staged bytes of all files of the process take, with all that goes with
                        them; stays within the layer's `budget` */
} headrace_progress_t;

/* Whether the layer takes over the filters of a dataset; see headrace_why_not(). */
typedef struct headrace_why_not_t {
  size_t size;
  const char *reason;
} headrace_why_not_t;

/* The operations' names, for HDF5. */
#define HEADRACE_OPERATION_WAIT "headrace.async.wait"
#define HEADRACE_OPERATION_PAUSE "headrace.async.pause"
#define HEADRACE_OPERATION_RESUME "headrace.async.resume"
#define HEADRACE_OPERATION_PROGRESS "headrace.async.progress"
#define HEADRACE_OPERATION_WHY_NOT "headrace.async.why_not"

/* Returns when everything that was written to the file so far, by any of its handles, is where
 * native HDF5 would have put it by now: in the file, and no more in memory of the layer. It is
 * H5Fflush without the work on HDF5's own caches, so the file may still lack what those hold. Tells
 * errors of writes behind the program as H5Fflush does: once, and what could not be written is kept
 * and tried again by the next wait, flush or close. */
static inline int headrace_wait(hid_t file) {
  return headrace_operation_(file, 1, HEADRACE_OPERATION_WAIT, NULL);
}

/* From here to headrace_resume() the workers of the process begin nothing, be it for this file or
 * another one; when the call returns, they have ended what they had begun. Writes go on being
 * staged and chunks being taken over, within the bounds of memory; large writes that are not staged
 * (docs/guide/async.md) are made by the calling thread. Where the bounds are reached, or the
 * program waits in a call of HDF5 for what workers do (to read a compressed chunk, to flush, wait,
 * close or fork), that is done meanwhile, by the calling thread and by the workers.
 *
 * Pauses nest: there is one headrace_resume() for each. They are of the file: when it is closed,
 * they end. Nothing is lost when a program ends while paused. */
static inline int headrace_pause(hid_t file) {
  return headrace_operation_(file, 1, HEADRACE_OPERATION_PAUSE, NULL);
}

/* Undoes one headrace_pause() of the same file; the workers go on when no file is paused. Fails
 * when the file is not paused. */
static inline int headrace_resume(hid_t file) {
  return headrace_operation_(file, 1, HEADRACE_OPERATION_RESUME, NULL);
}

/* Fills `progress`, with zeros if the layer is absent. Waits for nothing. */
static inline int headrace_progress(hid_t file, headrace_progress_t *progress) {
  const headrace_progress_t none = {sizeof none, 0, 0, 0, 0, 0};
  *progress = none;
  return headrace_operation_(file, 1, HEADRACE_OPERATION_PROGRESS, progress);
}

/* Sets `reason` to why the layer leaves the filters of a dataset to HDF5 ("layout", "filters",
 * "datatype", "file" or "connector_below"; "chunk_cache" if it takes over whole chunks only), or to
 * "" if it takes them over; to NULL if the layer is absent. The string is constant. That a dataset
 * is taken over does not mean that every call is. docs/guide/async.md explains both. */
static inline int headrace_why_not(hid_t dataset, const char **reason) {
  headrace_why_not_t args = {sizeof args, NULL};
  const int result = headrace_operation_(dataset, 0, HEADRACE_OPERATION_WHY_NOT, &args);
  *reason = args.reason;
  return result;
}

#ifdef __cplusplus
}
#endif

#endif /* HEADRACE_ASYNC_H */

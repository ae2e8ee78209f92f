/* Stands between one rank and the system: FAILS_RANK's call number FAILS_AT (from 0) that changes,
 * synchronises or opens something in a log's folder fails, and all later ones do with
 * FAILS_FOR_GOOD. Each rank's number of such calls goes to FAILS_COUNT.RANK at its end. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static atomic_int calls;

static const char *rank(void) {
  const char *number = getenv("OMPI_COMM_WORLD_RANK");
  return number != NULL ? number : getenv("PMI_RANK");
}

static int fails(const char *path) {
  const char *which = getenv("FAILS_RANK"), *at = getenv("FAILS_AT");
  if (strstr(path, ".headrace/") == NULL || rank() == NULL) return 0;
  const int number = atomic_fetch_add(&calls, 1);
  if (which == NULL || at == NULL || strcmp(which, rank()) != 0) return 0;
  if (number != atoi(at) && (number < atoi(at) || getenv("FAILS_FOR_GOOD") == NULL)) return 0;
  errno = EIO;
  return 1;
}

static int descriptor_fails(int descriptor) {
  char link[32], path[4096] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  if (readlink(link, path, sizeof path - 1) < 0) return 0;
  return fails(path);
}

__attribute__((destructor)) static void tell(void) {
  const char *to = getenv("FAILS_COUNT");
  char path[4096];
  if (to == NULL || rank() == NULL) return;
  snprintf(path, sizeof path, "%s.%s", to, rank());
  FILE *out = fopen(path, "w");
  if (out == NULL) return;
  fprintf(out, "%d\n", atomic_load(&calls));
  fclose(out);
}

#define OPEN(name)                                           \
  int name(const char *path, int flags, ...) {               \
    va_list more;                                            \
    va_start(more, flags);                                   \
    const unsigned mode = va_arg(more, unsigned);            \
    va_end(more);                                            \
    return fails(path) ? -1 : NEXT(name)(path, flags, mode); \
  }

OPEN(open)
OPEN(open64)

ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t at) {
  return descriptor_fails(descriptor) ? -1 : NEXT(pwritev)(descriptor, parts, count, at);
}

ssize_t pwritev64(int descriptor, const struct iovec *parts, int count, off64_t at) {
  return descriptor_fails(descriptor) ? -1 : NEXT(pwritev64)(descriptor, parts, count, at);
}

int ftruncate(int descriptor, off_t size) {
  return descriptor_fails(descriptor) ? -1 : NEXT(ftruncate)(descriptor, size);
}

int ftruncate64(int descriptor, off64_t size) {
  return descriptor_fails(descriptor) ? -1 : NEXT(ftruncate64)(descriptor, size);
}

int fsync(int descriptor) { return descriptor_fails(descriptor) ? -1 : NEXT(fsync)(descriptor); }

int unlink(const char *path) { return fails(path) ? -1 : NEXT(unlink)(path); }

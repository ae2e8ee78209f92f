/* Preloaded into a program: kills it at the KILL_AT-th change that it makes to anything below
 * KILL_IN. A large write gets as far as its first half then, in whole pages; all else is not begun.
 * KILL_AT=0 counts only, and says how many there were. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

enum { kPage = 4096 };
static atomic_int changes;

static int is_inside(const char *path) {
  char whole[8300];
  const char *folder = getenv("KILL_IN");
  if (folder == NULL || path == NULL) return 0;
  if (path[0] != '/') {
    char here[4096];
    if (getcwd(here, sizeof here) == NULL) return 0;
    snprintf(whole, sizeof whole, "%s/%s", here, path);
    path = whole;
  }
  return strncmp(path, folder, strlen(folder)) == 0;
}

static int is_below(int descriptor) {
  char link[32];
  char path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return is_inside(path);
}

/* Whether the change that is about to be made is the last one. */
static int is_last(int counts) {
  return counts && atomic_fetch_add(&changes, 1) + 1 == atoi(getenv("KILL_AT"));
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

__attribute__((destructor)) static void count(void) {
  if (changes > 0) fprintf(stderr, "changes: %d\n", (int)changes);
}

static size_t half_of(size_t size) { return size / 2 / kPage * kPage; }

ssize_t write(int descriptor, const void *buffer, size_t size) {
  if (is_last(is_below(descriptor))) {
    if (half_of(size) > 0) NEXT(write)(descriptor, buffer, half_of(size));
    die();
  }
  return NEXT(write)(descriptor, buffer, size);
}

ssize_t pwrite(int descriptor, const void *buffer, size_t size, off_t at) {
  if (is_last(is_below(descriptor))) {
    if (half_of(size) > 0) NEXT(pwrite)(descriptor, buffer, half_of(size), at);
    die();
  }
  return NEXT(pwrite)(descriptor, buffer, size, at);
}

ssize_t pwrite64(int descriptor, const void *buffer, size_t size, off64_t at) {
  return pwrite(descriptor, buffer, size, at);
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  if (is_last(is_below(descriptor))) {
    if (count > 1) NEXT(writev)(descriptor, parts, count / 2);
    die();
  }
  return NEXT(writev)(descriptor, parts, count);
}

ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t at) {
  if (is_last(is_below(descriptor))) {
    if (count > 1) NEXT(pwritev)(descriptor, parts, count / 2, at);
    die();
  }
  return NEXT(pwritev)(descriptor, parts, count, at);
}

ssize_t pwritev64(int descriptor, const struct iovec *parts, int count, off64_t at) {
  return pwritev(descriptor, parts, count, at);
}

/* The others happen or do not. */
#define WHOLE(counts, call)   \
  if (is_last(counts)) die(); \
  return call;

#define OPENED(name)                                                                            \
  int name(const char *path, int flags, ...) {                                                  \
    va_list more;                                                                               \
    va_start(more, flags);                                                                      \
    const unsigned mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, unsigned) : 0;    \
    va_end(more);                                                                               \
    WHOLE((flags & (O_CREAT | O_TRUNC)) != 0 && is_inside(path), NEXT(name)(path, flags, mode)) \
  }

OPENED(open)
OPENED(open64)

int ftruncate(int descriptor, off_t size) {
  WHOLE(is_below(descriptor), NEXT(ftruncate)(descriptor, size))
}

int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }

int mkdir(const char *path, mode_t mode) { WHOLE(is_inside(path), NEXT(mkdir)(path, mode)) }

int unlink(const char *path) { WHOLE(is_inside(path), NEXT(unlink)(path)) }

int rmdir(const char *path) { WHOLE(is_inside(path), NEXT(rmdir)(path)) }

int rename(const char *from, const char *to) { WHOLE(is_inside(to), NEXT(rename)(from, to)) }

int link(const char *from, const char *to) { WHOLE(is_inside(to), NEXT(link)(from, to)) }

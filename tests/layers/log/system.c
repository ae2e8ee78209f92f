/* Stands between a program and the system, for tests/layers/log/test_system.py.
 * SYSTEM_TRACE=FILE: a line for each call that writes, cuts off or synchronises a regular file.
 * SYSTEM_DENIES=FOLDER: nothing below that folder is there. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static void note(const char *call, int descriptor) {
  const char *to = getenv("SYSTEM_TRACE");
  char link[32], path[4096], line[4200];
  struct stat status;
  if (to == NULL || fstat(descriptor, &status) != 0) return;
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, sizeof path);
  const int size = snprintf(line, sizeof line, "%s %.*s\n", call, (int)length, path);
  const int trace = NEXT(open)(to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (trace < 0 || NEXT(write)(trace, line, (size_t)size) != size) abort();
  close(trace);
}

static int denied(const char *path) {
  const char *folder = getenv("SYSTEM_DENIES");
  if (folder == NULL || strncmp(path, folder, strlen(folder)) != 0) return 0;
  errno = ENOENT;
  return 1;
}

/* The mode that follows the flags, where there is one. */
#define MODE(flags, mode)                       \
  unsigned mode = 0;                            \
  if (((flags) & (O_CREAT | O_TMPFILE)) != 0) { \
    va_list more;                               \
    va_start(more, flags);                      \
    mode = va_arg(more, unsigned);              \
    va_end(more);                               \
  }

int open(const char *path, int flags, ...) {
  MODE(flags, mode)
  return denied(path) ? -1 : NEXT(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  MODE(flags, mode)
  return denied(path) ? -1 : NEXT(open64)(path, flags, mode);
}

int stat(const char *restrict path, struct stat *restrict status) {
  return denied(path) ? -1 : NEXT(stat)(path, status);
}

int stat64(const char *restrict path, struct stat64 *restrict status) {
  return denied(path) ? -1 : NEXT(stat64)(path, status);
}

ssize_t pwrite(int descriptor, const void *buffer, size_t size, off_t at) {
  note("write", descriptor);
  return NEXT(pwrite)(descriptor, buffer, size, at);
}

ssize_t pwrite64(int descriptor, const void *buffer, size_t size, off64_t at) {
  note("write", descriptor);
  return NEXT(pwrite64)(descriptor, buffer, size, at);
}

int ftruncate(int descriptor, off_t size) {
  note("cut", descriptor);
  return NEXT(ftruncate)(descriptor, size);
}

int ftruncate64(int descriptor, off64_t size) {
  note("cut", descriptor);
  return NEXT(ftruncate64)(descriptor, size);
}

int fsync(int descriptor) {
  note("sync", descriptor);
  return NEXT(fsync)(descriptor);
}

int fdatasync(int descriptor) {
  note("sync", descriptor);
  return NEXT(fdatasync)(descriptor);
}

/* Records what a program does to the files below RECORD_FOLDER, for
 * tests/layers/log/crash/recorded.py: to file RECORD_TO goes a line for each change, in the order
 * in which the system made them, and behind that of a write its bytes. Files without a name are
 * passed over: no crash leaves anything of them. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

/* A line, and bytes behind it. Call it with the mutex locked. */
static void put(const struct iovec *bytes, int count, const char *format, ...) {
  static int to = -1;
  char line[4200];
  va_list values;
  if (to < 0) to = NEXT(open)(getenv("RECORD_TO"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  va_start(values, format);
  const int size = vsnprintf(line, sizeof line, format, values);
  va_end(values);
  if (to < 0 || write(to, line, (size_t)size) != size) abort();
  for (int i = 0; i < count; ++i)
    if (write(to, bytes[i].iov_base, bytes[i].iov_len) != (ssize_t)bytes[i].iov_len) abort();
}

/* The path behind the folder; NULL for all that is not recorded. */
static const char *inside(const char *path) {
  static char whole[8300];
  const char *folder = getenv("RECORD_FOLDER");
  if (folder == NULL) return NULL;
  const size_t length = strlen(folder);
  if (path[0] != '/') {
    char here[4096];
    if (getcwd(here, sizeof here) == NULL) return NULL;
    snprintf(whole, sizeof whole, "%s/%s", here, path);
    path = whole;
  }
  if (strncmp(path, folder, length) != 0 || (path[length] != '/' && path[length] != 0)) return NULL;
  return path[length] == 0 ? "." : path + length + 1;
}

static const char *name_of(int descriptor) {
  static char path[4096];
  char link[32];
  struct stat status;
  if (fstat(descriptor, &status) != 0 || status.st_nlink == 0) return NULL;
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return NULL;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return NULL;
  path[length] = 0;
  return inside(path);
}

/* A function of the system, with the mutex locked; `told` is the line of a call that succeeds. */
#define RECORDED(type, call, name, told) \
  pthread_mutex_lock(&order);            \
  const type done = call;                \
  if (done >= 0) {                       \
    const char *at = name;               \
    if (at != NULL) told;                \
  }                                      \
  pthread_mutex_unlock(&order);          \
  return done;

static int opened(int (*next)(const char *, int, ...), const char *path, int flags, unsigned mode) {
  struct stat status;
  if ((flags & (O_CREAT | O_TRUNC)) == 0 || inside(path) == NULL) return next(path, flags, mode);
  pthread_mutex_lock(&order);
  const int existed = NEXT(stat)(path, &status) == 0;
  const int descriptor = next(path, flags, mode);
  if (descriptor >= 0) {
    if (!existed) put(NULL, 0, "create %s\n", inside(path));
    if (existed && (flags & O_TRUNC) != 0) put(NULL, 0, "resize %s 0\n", inside(path));
  }
  pthread_mutex_unlock(&order);
  return descriptor;
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
  return opened(NEXT(open), path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  MODE(flags, mode)
  return opened(NEXT(open64), path, flags, mode);
}

ssize_t pwritev(int descriptor, const struct iovec *bytes, int count, off_t at_byte){
    RECORDED(ssize_t, NEXT(pwritev)(descriptor, bytes, count, at_byte), name_of(descriptor),
             put(bytes, count, "write %s %lld %lld\n", at, (long long)at_byte, (long long)done))}

ssize_t pwrite(int descriptor, const void *buffer, size_t size, off_t at_byte) {
  const struct iovec bytes = {(void *)buffer, size};
  return pwritev(descriptor, &bytes, 1, at_byte);
}

ssize_t pwrite64(int descriptor, const void *buffer, size_t size, off64_t at_byte) {
  return pwrite(descriptor, buffer, size, at_byte);
}

int ftruncate(int descriptor, off_t size) {
  RECORDED(int, NEXT(ftruncate)(descriptor, size), name_of(descriptor),
           put(NULL, 0, "resize %s %lld\n", at, (long long)size))
}

int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }

int fsync(int descriptor) {
  RECORDED(int, NEXT(fsync)(descriptor), name_of(descriptor), put(NULL, 0, "sync %s\n", at))
}

int mkdir(const char *path, mode_t mode) {
  RECORDED(int, NEXT(mkdir)(path, mode), inside(path), put(NULL, 0, "folder %s\n", at))
}

int unlink(const char *path) {
  RECORDED(int, NEXT(unlink)(path), inside(path), put(NULL, 0, "remove %s\n", at))
}

int rmdir(const char *path) {
  RECORDED(int, NEXT(rmdir)(path), inside(path), put(NULL, 0, "remove %s\n", at))
}

/* For the program: what it has done by now. */
void record_note(const char *text) {
  pthread_mutex_lock(&order);
  put(NULL, 0, "note %s\n", text);
  pthread_mutex_unlock(&order);
}

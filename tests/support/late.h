/* A program whose reads and writes of files may be late: it has the system's functions for them, in
 * place of those of libc, and must export them (ENABLE_EXPORTS). */
#ifndef LATE_H
#define LATE_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_int late_milliseconds;

/* The next one, in any thread; 0: none. */
static inline void delay_next(int milliseconds) { atomic_store(&late_milliseconds, milliseconds); }

static inline void late_wait(void) {
  const int now = atomic_exchange(&late_milliseconds, 0);
  if (now > 0) usleep(1000U * (unsigned)now);
}

#define LATE(name, parameters, arguments)                           \
  ssize_t name parameters {                                         \
    late_wait();                                                    \
    return ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))arguments; \
  }

LATE(pwrite, (int file, const void *bytes, size_t size, off_t at), (file, bytes, size, at))
LATE(pwrite64, (int file, const void *bytes, size_t size, off64_t at), (file, bytes, size, at))
LATE(pwritev, (int file, const struct iovec *all, int count, off_t at), (file, all, count, at))
LATE(pwritev64, (int file, const struct iovec *all, int count, off64_t at), (file, all, count, at))
LATE(pread, (int file, void *bytes, size_t size, off_t at), (file, bytes, size, at))
LATE(pread64, (int file, void *bytes, size_t size, off64_t at), (file, bytes, size, at))
LATE(preadv, (int file, const struct iovec *all, int count, off_t at), (file, all, count, at))
LATE(preadv64, (int file, const struct iovec *all, int count, off64_t at), (file, all, count, at))

#endif

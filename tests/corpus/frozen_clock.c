/* Preloaded into a program: the calendar stands still, so that time stamps in files are equal.
 *
 * The second never changes but its fraction does: MPI calibrates clocks in a loop that ends only
 * when time passes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

enum { kNow = 1700000000 };

static int real_clock(clockid_t clock, struct timespec *out) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
  return real(clock, out);
}

time_t time(time_t *out) {
  if (out) *out = kNow;
  return kNow;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone) {
  (void)zone;
  struct timespec now;
  real_clock(CLOCK_REALTIME, &now);
  *out = (struct timeval){kNow, now.tv_nsec / 1000};
  return 0;
}

/* Clocks that measure durations go on. */
int clock_gettime(clockid_t clock, struct timespec *out) {
  int failed = real_clock(clock, out);
  if (clock == CLOCK_REALTIME && !failed) out->tv_sec = kNow;
  return failed;
}

/* Preloaded into the ranks of Open MPI, which call sched_yield() where no message has come
 * (mpi_yield_when_idle). Where other processes keep the cores busy, one that yields waits for all
 * of their slices, at each message: a suite of seconds took minutes so. One that sleeps is soon
 * back, so ranks sleep then. */
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LONG = 100000, AWHILE = 50000000 }; /* ns: of a yield, and until the next is tried */

static _Thread_local long long busy_until;

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int sched_yield(void) {
  const struct timespec least = {0, 1};
  const long long begin = now();
  if (begin < busy_until) return nanosleep(&least, NULL);
  const int done = (int)syscall(SYS_sched_yield);
  const long long end = now();
  if (end - begin > LONG) busy_until = end + AWHILE;
  return done;
}

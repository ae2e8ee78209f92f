/* Stands between a rank and the system, and shows what ROMIO's writes do to each other: all of them
 * come late, and later those of a range that was locked, as for one that was read to be written
 * back with pieces of it changed. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static atomic_int locked = -1; /* a descriptor */

int fcntl(int descriptor, int command, ...) {
  va_list more;
  va_start(more, command);
  void *argument = va_arg(more, void *);
  va_end(more);
  const int result = NEXT(fcntl)(descriptor, command, argument);
  if (command == F_SETLKW && result == 0) locked = descriptor;
  if (command == F_SETLK) locked = -1; /* ROMIO unlocks by it */
  return result;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t at) {
  usleep(descriptor == locked ? 60000 : 20000);
  return NEXT(pwrite)(descriptor, bytes, size, at);
}

/* Locks as NFS has them: an exclusive one needs a descriptor that is open for writing. With
 * NO_LOCKS set there are none, as on Lustre that is mounted without them. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>

int flock(int descriptor, int operation) {
  const int reads = (fcntl(descriptor, F_GETFL) & O_ACCMODE) == O_RDONLY;
  errno = getenv("NO_LOCKS") ? ENOSYS : (operation & LOCK_EX) && reads ? EBADF : 0;
  if (errno != 0) return -1;
  return ((__typeof__(&flock))dlsym(RTLD_NEXT, "flock"))(descriptor, operation);
}

/* Preloaded into a program: says at its end how often it has synced a file. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static atomic_int syncs;

__attribute__((destructor)) static void count(void) { fprintf(stderr, "syncs: %d\n", (int)syncs); }

int fsync(int descriptor) {
  ++syncs;
  return NEXT(fsync)(descriptor);
}

int fdatasync(int descriptor) {
  ++syncs;
  return NEXT(fdatasync)(descriptor);
}

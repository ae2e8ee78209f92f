/* Preloaded into a program: a disk that changes or loses some writes and says nothing. Which,
 * depends on nothing but the write, so that a program meets the same lies each time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

typedef ssize_t Write(int, const void *, size_t, off_t);

static ssize_t lie(Write *real, int file, const void *bytes, size_t size, off_t at) {
  const char *how = getenv("LIE");
  if (!how || size <= 64 || (size + (size_t)at / 8) % 3) return real(file, bytes, size, at);
  if (strcmp(how, "lose") == 0) return (ssize_t)size;
  char *changed = malloc(size);
  if (!changed) return -1;
  memcpy(changed, bytes, size);
  changed[size / 2] ^= 1;
  ssize_t written = real(file, changed, size, at);
  free(changed);
  return written;
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t at) {
  return lie((Write *)dlsym(RTLD_NEXT, "pwrite"), file, bytes, size, at);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off_t at) {
  return lie((Write *)dlsym(RTLD_NEXT, "pwrite64"), file, bytes, size, at);
}

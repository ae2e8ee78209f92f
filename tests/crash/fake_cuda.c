/* Preloaded as libcuda.so.1: memory that ends a program which touches it, but for a read or write
 * of a file at a place, as GPUDirect Storage makes them. One thread. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

enum { SIZE = 1 << 26, SUCCESS = 0, INVALID = 1, MEMORY_TYPE = 2, DEVICE = 2 };
static char *device;
static size_t used;

static int is_device(const void *address) {
  const char *at = address;
  return device != NULL && at >= device && at < device + SIZE;
}

static void open_to_cpu(int open) {
  if (device != NULL) mprotect(device, SIZE, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

void *device_allocate(size_t bytes) {
  if (device == NULL)
    device = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  void *found = device + used;
  used += (bytes + 255) / 256 * 256;
  return used <= SIZE ? found : NULL;
}

void device_copy(void *to, const void *from, size_t bytes) {
  open_to_cpu(1);
  memcpy(to, from, bytes);
  open_to_cpu(0);
}

int cuPointerGetAttribute(void *data, int attribute, uintptr_t pointer) {
  if (attribute != MEMORY_TYPE || !is_device((const void *)pointer)) return INVALID;
  *(unsigned *)data = DEVICE;
  return SUCCESS;
}

#define TRANSFER(name, type)                                            \
  ssize_t name(int file, type buffer, size_t bytes, off_t at) {         \
    if (!is_device(buffer)) return NEXT(name)(file, buffer, bytes, at); \
    open_to_cpu(1);                                                     \
    ssize_t done = NEXT(name)(file, buffer, bytes, at);                 \
    open_to_cpu(0);                                                     \
    return done;                                                        \
  }
#define VECTOR(name)                                                                            \
  ssize_t name(int file, const struct iovec *parts, int count, off_t at) {                      \
    if (count == 0 || !is_device(parts[0].iov_base)) return NEXT(name)(file, parts, count, at); \
    open_to_cpu(1);                                                                             \
    ssize_t done = NEXT(name)(file, parts, count, at);                                          \
    open_to_cpu(0);                                                                             \
    return done;                                                                                \
  }

TRANSFER(pread, void *)
TRANSFER(pread64, void *)
TRANSFER(pwrite, const void *)
TRANSFER(pwrite64, const void *)
VECTOR(preadv)
VECTOR(preadv64)
VECTOR(pwritev)
VECTOR(pwritev64)

// Plays libhdf5 1.12.2, as far as loading a connector goes: opens the plug-in file that it is given
// as that would, and checks that it gets the class of its own native connector under another name.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  unsigned version;
  int value;
  const char* name;
  unsigned flags;
  int (*initialize)(long);
  int (*terminate)(void);
  size_t info_size;
  void* info[5];
  void* wrap[5];
  void* functions[50];
} Class;

static void* function(void) { return NULL; }
static int end(void) { return 0; }

#define FIVE function, function, function, function, function
#define FIFTY FIVE, FIVE, FIVE, FIVE, FIVE, FIVE, FIVE, FIVE, FIVE, FIVE
// The first one is none: it has no functions.
static Class classes[] = {{0, 0, "native", 0, NULL, NULL, 0, {0}, {0}, {0}},
                          {0, 0, "native", 7, NULL, end, 0, {0}, {0}, {FIFTY}}};

int H5get_libversion(unsigned* major, unsigned* minor, unsigned* release) {
  *major = 1;
  *minor = 12;
  *release = 2;
  return 0;
}

static int check(const Class* found, const char* name) {
  const Class* mine = &classes[1];
  if (found == NULL) return puts("nothing was loaded"), 1;
  if (strcmp(found->name, name) != 0 || found->value == 0) return puts("another class"), 1;
  if (found->initialize != NULL || found->terminate != NULL) return puts("it ends natively"), 1;
  if (found->flags != mine->flags ||
      memcmp(found->functions, mine->functions, sizeof mine->functions) != 0)
    return puts("other functions"), 1;
  return puts("native functions"), 0;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  void* plugin = dlopen(argv[1], RTLD_LAZY);
  if (plugin == NULL) return puts(dlerror()), 1;
  const void* (*info)(void) = (const void* (*)(void))dlsym(plugin, "H5PLget_plugin_info");
  return check(info(), argv[2]);
}

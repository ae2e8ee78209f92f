#define _GNU_SOURCE
#include "copies.h"

#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "symbols.h"

typedef int (*IsThreadsafe)(bool*);

struct Walk {
  struct Line* line;
  const char* exe;
  bool may_call;
  bool names_only;
  int count;
};

static const char* flag(bool known, bool value) {
  if (!known) return "null";
  return value ? "true" : "false";
}

/* Builds that are thread-safe in 1.14 keep the flag in a structure; an id that is invalid until
 * datatypes are set up tells as much. */
static const char* initialised(const struct SymbolTable* table) {
  const bool* const is_set = headrace_find_symbol(table, "H5_libinit_g");
  if (is_set != NULL) return flag(true, *is_set);
  const int64_t* const id = headrace_find_symbol(table, "H5T_NATIVE_INT_g");
  return flag(id != NULL, id != NULL && *id != -1);
}

static const char* threadsafe(const struct SymbolTable* table, bool may_call) {
  const void* const function = headrace_find_symbol(table, "H5is_library_threadsafe");
  bool answer = false;
  if (!may_call || function == NULL) return "null";
  const int status = ((IsThreadsafe)(uintptr_t)function)(&answer);
  return flag(status >= 0, answer);
}

/* "HDF5 library version: 1.14.5" without the words. */
static const char* version(const struct SymbolTable* table) {
  const char* const text = headrace_find_symbol(table, "H5_lib_vers_info_g");
  const char* found = text;
  for (const char* c = text; c != NULL && *c != '\0'; ++c)
    if (*c == ' ') found = c + 1;
  return found;
}

static void visit(struct Walk* walk, ElfW(Addr) base, const char* name, const ElfW(Dyn) * dynamic) {
  const struct SymbolTable table = headrace_symbol_table(base, dynamic);
  /* The program itself goes without a name. */
  const char* const path = name == NULL || *name == '\0' ? walk->exe : name;
  if (walk->names_only) {
    headrace_add(walk->line, walk->count++ == 0 ? "" : ",");
    headrace_add_quoted(walk->line, path);
    return;
  }
  /* A wrapper library may have some function of HDF5, hardly two. */
  if (headrace_find_symbol(&table, "H5get_libversion") == NULL ||
      headrace_find_symbol(&table, "H5Fopen") == NULL)
    return;
  headrace_add(walk->line, walk->count++ == 0 ? "{\"path\":" : ",{\"path\":");
  headrace_add_quoted(walk->line, path);
  headrace_add(walk->line, ",\"version\":");
  headrace_add_quoted(walk->line, version(&table));
  headrace_add(walk->line, ",\"initialised\":");
  headrace_add(walk->line, initialised(&table));
  headrace_add(walk->line, ",\"parallel\":");
  headrace_add(walk->line, flag(true, headrace_find_symbol(&table, "H5Pset_fapl_mpio") != NULL));
  headrace_add(walk->line, ",\"threadsafe\":");
  headrace_add(walk->line, threadsafe(&table, walk->may_call));
  headrace_add(walk->line, "}");
}

static int visit_locked(struct dl_phdr_info* info, size_t size, void* walk) {
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const uintptr_t dynamic = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    visit(walk, info->dlpi_addr, info->dlpi_name, (const ElfW(Dyn)*)dynamic);
  }
  return 0;
}

void headrace_add_copies(struct Line* line, const char* exe, bool may_call) {
  struct Walk walk = {.line = line, .exe = exe, .may_call = may_call};
  headrace_add(line, "\"copies\":[");
  dl_iterate_phdr(visit_locked, &walk);
  headrace_add(line, "]");
  if (walk.count != 0) return;
  walk.names_only = true;
  headrace_add(line, ",\"objects\":[");
  dl_iterate_phdr(visit_locked, &walk);
  headrace_add(line, "]");
}

/* A line of /proc/self/maps: "START-END r-xp OFFSET DEVICE INODE   /path". Its path when the line
 * maps code of a file, else NULL. */
static const char* code_path(const char* map) {
  const char* const path = strchr(map, '/');
  const char* const rights = strchr(map, ' ');
  return path != NULL && rights != NULL && rights[3] == 'x' ? path : NULL;
}

void headrace_add_mapped(struct Line* line) {
  /* Static: signal handlers have small stacks. A child that comes here has no other thread. */
  static char map[PATH_MAX + 128];
  char chunk[512];
  size_t length = 0;
  int count = 0;
  headrace_add(line, "\"copies\":[],\"objects\":[");
  const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  for (ssize_t got; fd >= 0 && (got = read(fd, chunk, sizeof chunk)) > 0;) {
    for (ssize_t i = 0; i < got; ++i) {
      if (chunk[i] != '\n') {
        if (length < sizeof map - 1) map[length++] = chunk[i];
        continue;
      }
      map[length] = '\0';
      length = 0;
      const char* const path = code_path(map);
      if (path == NULL) continue;
      headrace_add(line, count++ == 0 ? "" : ",");
      headrace_add_quoted(line, path);
    }
  }
  if (fd >= 0) close(fd);
  headrace_add(line, "]");
}

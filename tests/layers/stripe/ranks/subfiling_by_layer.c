/* Preloaded into a program that sets HDF5's own subfiling: its lists get mpio instead, below which
 * the layer stripe does what they say. It is told by the variables that HDF5's subfiling reads,
 * too, while a file is created. Files that are opened past the library's files, by H5FDopen, get
 * the layer's driver. */
#include <dlfcn.h>
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

enum { kMost = 1024, kVariables = 2 };
static const char *const kNames[kVariables] = {"H5FD_SUBFILING_STRIPE_SIZE",
                                               "H5FD_SUBFILING_IOC_SELECTION_CRITERIA"};

static struct {
  hid_t list;
  H5FD_subfiling_config_t config;
} known[kMost];
static int count;
static char *before[kVariables];

/* Programs that this one starts, such as h5fuse, have no HDF5. */
__attribute__((constructor)) static void not_for_children(void) { unsetenv("LD_PRELOAD"); }

static H5FD_subfiling_config_t *config_of(hid_t list) {
  for (int i = count - 1; i >= 0; --i)
    if (known[i].list == list) return &known[i].config;
  return NULL;
}

static herr_t defaults(hid_t list, H5FD_subfiling_config_t *config) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Info info = MPI_INFO_NULL;
  hid_t other = H5Pcreate(H5P_FILE_ACCESS);
  if (H5Pget_mpi_params(list, &comm, &info) < 0 || H5Pset_mpi_params(other, comm, info) < 0 ||
      NEXT(H5Pset_fapl_subfiling)(other, NULL) < 0)
    return -1;
  return NEXT(H5Pget_fapl_subfiling)(other, config);
}

herr_t H5Pset_fapl_subfiling(hid_t list, const H5FD_subfiling_config_t *config) {
  H5FD_subfiling_config_t mine;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Info info = MPI_INFO_NULL;
  if (config != NULL) mine = *config;
  if (config == NULL && defaults(list, &mine) < 0) return -1;
  if (H5Pget_mpi_params(list, &comm, &info) < 0 || H5Pset_fapl_mpio(list, comm, info) < 0)
    return -1;
  int at = 0;
  while (at < count && known[at].list != list) ++at;
  if (at == kMost) abort();
  if (at == count) ++count;
  known[at].list = list;
  known[at].config = mine;
  return 0;
}

herr_t H5Pget_fapl_subfiling(hid_t list, H5FD_subfiling_config_t *config) {
  const H5FD_subfiling_config_t *mine = config_of(list);
  if (mine == NULL) return defaults(list, config);
  *config = *mine;
  return 0;
}

static void say(hid_t list) {
  const H5FD_subfiling_config_t *mine = config_of(list);
  char text[80];
  for (int i = 0; i < kVariables; ++i) {
    const char *value = getenv(kNames[i]);
    before[i] = value != NULL && *value != '\0' ? strdup(value) : NULL;
  }
  if (mine == NULL) return;
  const H5FD_subfiling_params_t *wanted = &mine->shared_cfg;
  if (wanted->stripe_size > 0 && before[0] == NULL) {
    snprintf(text, sizeof text, "%lld", (long long)wanted->stripe_size);
    setenv(kNames[0], text, 1);
  }
  if (before[1] != NULL && strchr(before[1], ':') == NULL) {
    snprintf(text, sizeof text, "%d:%s", (int)wanted->ioc_selection, before[1]);
    setenv(kNames[1], text, 1);
  } else if (before[1] == NULL && wanted->stripe_count > 0) {
    snprintf(text, sizeof text, "3:%d", (int)wanted->stripe_count);
    setenv(kNames[1], text, 1);
  }
}

static void unsay(void) {
  for (int i = 0; i < kVariables; ++i) {
    if (before[i] != NULL)
      setenv(kNames[i], before[i], 1);
    else
      unsetenv(kNames[i]);
    free(before[i]);
  }
}

hid_t H5Fcreate(const char *name, unsigned flags, hid_t fcpl, hid_t fapl) {
  say(fapl);
  const hid_t file = NEXT(H5Fcreate)(name, flags, fcpl, fapl);
  unsay();
  return file;
}

H5FD_t *H5FDopen(const char *name, unsigned flags, hid_t list, haddr_t most) {
  if (config_of(list) == NULL) return NEXT(H5FDopen)(name, flags, list, most);
  const hid_t mine = H5Pcopy(list);
  H5FD_t *file = NULL;
  if (H5Pset_driver_by_name(mine, "headrace_stripe_mpi", "under=mpio;seat=both") >= 0)
    file = NEXT(H5FDopen)(name, flags, mine, most);
  H5Pclose(mine);
  return file;
}

/* A program of many small asynchronous reads and writes, for tests/layers/async/test_requests.py:
 * requests FILE WHAT [SEED]. It compares what it reads with a model in memory, and ends with
 * status 0 when all is as it must be. */
#include <hdf5.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "random.h"
#include "require.h"

enum { ROWS = 48, COLUMNS = 80, DATASETS = 4, HANDLES = 2, MOST = 256 };

typedef struct {
  hsize_t start[2], count[2];
} box_t;

static box_t random_box(void) {
  box_t box;
  /* Pieces of a grid, so that many lie side by side, and boxes anywhere. */
  if (below(3) > 0) {
    box.start[0] = below(ROWS / 4) * 4;
    box.start[1] = below(COLUMNS / 10) * 10;
    box.count[0] = 4;
    box.count[1] = 10;
    return box;
  }
  box.start[0] = below(ROWS);
  box.start[1] = below(COLUMNS);
  box.count[0] = 1 + below(ROWS - (unsigned)box.start[0]);
  box.count[1] = 1 + below(COLUMNS - (unsigned)box.start[1]);
  return box;
}

/* A request, and the memory that is the library's until it has been waited for: the box lies in
 * the middle of a larger array. */
typedef struct {
  box_t box;
  hsize_t dims[2], at[2];
  int32_t *memory, *expected; /* expected: of a read */
} request_t;

static size_t index_of(const request_t *request, hsize_t row, hsize_t column) {
  return (size_t)((request->at[0] + row) * request->dims[1] + request->at[1] + column);
}

static request_t request_for(box_t box) {
  request_t request = {.box = box};
  for (int d = 0; d < 2; ++d) {
    request.at[d] = below(3);
    request.dims[d] = request.at[d] + box.count[d] + below(3);
  }
  size_t bytes = (size_t)(request.dims[0] * request.dims[1]) * sizeof *request.memory;
  request.memory = malloc(bytes);
  memset(request.memory, 0x5a, bytes);
  return request;
}

static int32_t model[DATASETS][ROWS][COLUMNS];
static const hsize_t dims[2] = {ROWS, COLUMNS};

static hid_t created(hid_t file, int which) {
  char name[8];
  hsize_t chunk[2] = {16, 32};
  hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
  if (which > 0) REQUIRE(H5Pset_chunk(dcpl, 2, chunk));
  if (which > 1) REQUIRE(H5Pset_deflate(dcpl, 1));
  hid_t space = H5Screate_simple(2, dims, NULL);
  snprintf(name, sizeof name, "d%d", which);
  hid_t type = which == 3 ? H5T_STD_I16BE : H5T_STD_I32LE; /* converted: not for the queue */
  hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  REQUIRE(dataset);
  REQUIRE(H5Sclose(space));
  REQUIRE(H5Pclose(dcpl));
  return dataset;
}

static void start_write(hid_t dataset, int which, request_t *request, hid_t set) {
  for (hsize_t i = 0; i < request->box.count[0]; ++i)
    for (hsize_t j = 0; j < request->box.count[1]; ++j) {
      int32_t value = (int32_t)below(30000);
      request->memory[index_of(request, i, j)] = value;
      model[which][request->box.start[0] + i][request->box.start[1] + j] = value;
    }
  hid_t memory = box_of(request->dims, request->at, request->box.count);
  hid_t file = box_of(dims, request->box.start, request->box.count);
  if (set == H5ES_NONE)
    REQUIRE(H5Dwrite(dataset, H5T_NATIVE_INT32, memory, file, H5P_DEFAULT, request->memory));
  else
    REQUIRE(
        H5Dwrite_async(dataset, H5T_NATIVE_INT32, memory, file, H5P_DEFAULT, request->memory, set));
  REQUIRE(H5Sclose(memory));
  REQUIRE(H5Sclose(file));
}

static void start_read(hid_t dataset, int which, request_t *request, hid_t set) {
  size_t bytes = (size_t)(request->dims[0] * request->dims[1]) * sizeof *request->memory;
  request->expected = malloc(bytes);
  memcpy(request->expected, request->memory, bytes);
  for (hsize_t i = 0; i < request->box.count[0]; ++i)
    for (hsize_t j = 0; j < request->box.count[1]; ++j)
      request->expected[index_of(request, i, j)] =
          model[which][request->box.start[0] + i][request->box.start[1] + j];
  hid_t memory = box_of(request->dims, request->at, request->box.count);
  hid_t file = box_of(dims, request->box.start, request->box.count);
  if (set == H5ES_NONE)
    REQUIRE(H5Dread(dataset, H5T_NATIVE_INT32, memory, file, H5P_DEFAULT, request->memory));
  else
    REQUIRE(
        H5Dread_async(dataset, H5T_NATIVE_INT32, memory, file, H5P_DEFAULT, request->memory, set));
  REQUIRE(H5Sclose(memory));
  REQUIRE(H5Sclose(file));
}

static void finish(request_t *request) {
  size_t bytes = (size_t)(request->dims[0] * request->dims[1]) * sizeof *request->memory;
  if (request->expected != NULL) EXPECT(memcmp(request->memory, request->expected, bytes) == 0);
  memset(request->memory, 0, bytes);
  free(request->memory);
  free(request->expected);
}

static void wait_for_all(hid_t set, request_t *requests, int *count) {
  size_t left = 1;
  hbool_t failed = 1;
  REQUIRE(H5ESwait(set, H5ES_WAIT_FOREVER, &left, &failed));
  EXPECT(left == 0 && !failed);
  for (; *count > 0; --*count) finish(&requests[*count - 1]);
}

static void dump(const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s.model", name);
  FILE *out = fopen(path, "wb");
  EXPECT(out != NULL && fwrite(model, sizeof model, 1, out) == 1 && fclose(out) == 0);
}

/* Reads and writes of boxes that touch, overlap and lie in one another, through two handles. */
static void random_program(const char *name) {
  hid_t set = H5EScreate();
  hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t datasets[DATASETS][HANDLES];
  request_t requests[MOST];
  int count = 0;
  for (int i = 0; i < DATASETS; ++i) {
    char path[8];
    snprintf(path, sizeof path, "d%d", i);
    datasets[i][0] = created(file, i);
    datasets[i][1] = H5Dopen2(file, path, H5P_DEFAULT);
    REQUIRE(datasets[i][1]);
  }
  for (int step = 0; step < 600; ++step) {
    int which = (int)below(DATASETS);
    hid_t dataset = datasets[which][below(8) == 0];
    unsigned what = below(40);
    if (count == MOST || what == 0) wait_for_all(set, requests, &count);
    if (what == 1) REQUIRE(H5Fflush(file, H5F_SCOPE_LOCAL));
    if (what == 2) {
      REQUIRE(H5Dclose(datasets[which][1]));
      char path[8];
      snprintf(path, sizeof path, "d%d", which);
      datasets[which][1] = H5Dopen2(file, path, H5P_DEFAULT);
      dataset = datasets[which][0];
    }
    request_t request = request_for(random_box());
    /* Phases of reading and of writing, so that there is something to put together. */
    const int writes = (step / 40 % 2 == 0) != (below(20) == 0);
    if (step % 80 == 40) REQUIRE(H5Fflush(file, H5F_SCOPE_LOCAL)); /* reads are of storage then */
    const int waits = below(16) == 0;
    (writes ? start_write : start_read)(dataset, which, &request, waits ? H5ES_NONE : set);
    if (waits)
      finish(&request);
    else
      requests[count++] = request;
  }
  wait_for_all(set, requests, &count);
  dump(name);
  REQUIRE(H5ESclose(set));
  for (int i = 0; i < DATASETS; ++i)
    for (int j = 0; j < HANDLES; ++j) REQUIRE(H5Dclose(datasets[i][j]));
  REQUIRE(H5Fclose(file));
}

/* All of a dataset in pieces, in any order. */
static void pieces(hid_t dataset, int which, hid_t set, request_t *requests, int *count,
                   void (*start)(hid_t, int, request_t *, hid_t)) {
  int order[ROWS];
  for (int i = 0; i < ROWS; ++i) order[i] = i;
  for (int i = 0; i < ROWS; ++i) {
    const int other = (int)below(ROWS), row = order[i];
    order[i] = order[other];
    order[other] = row;
  }
  for (int i = 0; i < ROWS; ++i) {
    const box_t row = {{(hsize_t)order[i], 0}, {1, COLUMNS}};
    requests[*count] = request_for(row);
    start(dataset, which, &requests[(*count)++], set);
  }
}

static void rows(const char *name) {
  hid_t set = H5EScreate();
  hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  request_t requests[MOST];
  int count = 0;
  for (int i = 0; i < DATASETS; ++i) {
    hid_t dataset = created(file, i);
    pieces(dataset, i, set, requests, &count, start_write);
    wait_for_all(set, requests, &count);
    pieces(dataset, i, set, requests, &count, start_read);
    wait_for_all(set, requests, &count);
    REQUIRE(H5Dclose(dataset));
  }
  dump(name);
  REQUIRE(H5ESclose(set));
  REQUIRE(H5Fclose(file));
}

/* What has not been begun can be taken back; what was written before stays. */
static void cancels(const char *name) {
  hid_t set = H5EScreate();
  hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t dataset = created(file, 0);
  const box_t box = {{0, 0}, {4, 10}};
  request_t first = request_for(box), second = request_for(box);
  int32_t kept[ROWS][COLUMNS];
  size_t not_canceled = 1;
  hbool_t failed = 1;
  start_write(dataset, 0, &first, H5ES_NONE);
  memcpy(kept, model[0], sizeof kept);
  start_write(dataset, 0, &second, set);
  REQUIRE(H5EScancel(set, &not_canceled, &failed));
  EXPECT(not_canceled == 0 && !failed);
  memcpy(model[0], kept, sizeof kept);
  finish(&first);
  finish(&second);
  dump(name);
  REQUIRE(H5ESclose(set));
  REQUIRE(H5Dclose(dataset));
  REQUIRE(H5Fclose(file));
}

/* The program ends its objects before it waits, and has a child that does nothing. */
static void ends_first(const char *name) {
  hid_t set = H5EScreate();
  hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  request_t requests[MOST];
  int count = 0, status = 1;
  for (int i = 0; i < DATASETS; ++i) {
    hid_t dataset = created(file, i);
    pieces(dataset, i, set, requests, &count, start_write);
    const pid_t child = fork();
    if (child == 0) _exit(0);
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    REQUIRE(H5Dclose_async(dataset, set));
  }
  REQUIRE(H5Fclose_async(file, set));
  wait_for_all(set, requests, &count);
  dump(name);
  REQUIRE(H5ESclose(set));
}

/* A file that was made before: every read of data fails, and each request tells. */
static void fails(const char *name) {
  hid_t set = H5EScreate();
  hid_t file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
  hid_t dataset = H5Dopen2(file, "d0", H5P_DEFAULT);
  request_t requests[MOST];
  int count = 0;
  size_t left = 0, told = 0;
  hbool_t failed = 0;
  H5ES_err_info_t info;
  REQUIRE(dataset);
  pieces(dataset, 0, set, requests, &count, start_read);
  /* A wait ends with the first error, which must be fetched. */
  for (int i = 0; i < ROWS; ++i) {
    REQUIRE(H5ESwait(set, H5ES_WAIT_FOREVER, &left, &failed));
    EXPECT(failed);
    REQUIRE(H5ESget_err_info(set, 1, &info, &told));
    EXPECT(told == 1);
    if (i == ROWS - 1) H5Eprint2(info.err_stack_id, stdout);
  }
  EXPECT(left == 0);
}

int main(int argc, char **argv) {
  const char *what = argc > 2 ? argv[2] : "";
  state = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
  if (strcmp(what, "random") == 0)
    random_program(argv[1]);
  else if (strcmp(what, "rows") == 0)
    rows(argv[1]);
  else if (strcmp(what, "cancels") == 0)
    cancels(argv[1]);
  else if (strcmp(what, "ends_first") == 0)
    ends_first(argv[1]);
  else if (strcmp(what, "fails") == 0)
    fails(argv[1]);
  else
    return 2;
  return 0;
}

/* A program that waits, pauses and resumes, for tests/layers/async/test_control.py: control FILE
 * WHAT. It prints what it finds out, and ends with status 0 when all calls did what
 * headrace/async.h says. */
#include <errno.h>
#include <hdf5.h>
#include <headrace/async.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "require.h"

#define COUNT 1000000
#define CHUNK 10000

static int32_t values[COUNT];

static void fill(int seed) {
  for (int32_t i = 0; i < COUNT; ++i) values[i] = i * 31 + seed;
}

/* Longer than the layer's flush_interval in the tests. */
static void rest(void) {
  const struct timespec time = {0, 200 * 1000 * 1000};
  nanosleep(&time, NULL);
}

/* Contiguous, or compressed in chunks. */
static hid_t created(hid_t file, const char *name, int compressed) {
  const hsize_t size = COUNT;
  const hsize_t chunk = CHUNK;
  const hid_t space = H5Screate_simple(1, &size, NULL);
  const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  if (compressed) {
    REQUIRE(H5Pset_chunk(list, 1, &chunk));
    REQUIRE(H5Pset_deflate(list, 1));
  }
  const hid_t dataset =
      H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
  REQUIRE(dataset);
  REQUIRE(H5Pclose(list));
  REQUIRE(H5Sclose(space));
  return dataset;
}

static void write_all(hid_t dataset) {
  REQUIRE(H5Dwrite(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
}

static headrace_progress_t progress_of(hid_t file) {
  headrace_progress_t progress;
  EXPECT(headrace_progress(file, &progress) == HEADRACE_DONE);
  EXPECT(progress.size == sizeof progress);
  EXPECT(progress.accepted == progress.stored + progress.staged);
  EXPECT(progress.memory >= progress.staged);
  return progress;
}

/* Whether the values stand in the file somewhere, by the system. HDF5 is not asked for the address:
 * a program that has it finds its data in the file at once. */
static int in_file(const char *name) {
  FILE *file = fopen(name, "rb");
  EXPECT(file != NULL && fseek(file, 0, SEEK_END) == 0);
  const long size = ftell(file);
  EXPECT(size >= 0 && fseek(file, 0, SEEK_SET) == 0);
  char *bytes = malloc((size_t)size + 1);
  EXPECT(fread(bytes, 1, (size_t)size, file) == (size_t)size);
  fclose(file);
  int found = 0;
  for (long i = 0; !found && i + (long)sizeof values <= size; ++i)
    found = memcmp(bytes + i, values, sizeof values) == 0;
  free(bytes);
  return found;
}

/* Without the layer all does nothing, and nothing is on the error stack. */
static void native(const char *name) {
  const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t dataset = created(file, "d", 0);
  headrace_progress_t progress;
  const char *reason = "x";
  EXPECT(headrace_pause(file) == HEADRACE_ABSENT);
  EXPECT(headrace_resume(file) == HEADRACE_ABSENT);
  EXPECT(headrace_wait(file) == HEADRACE_ABSENT);
  EXPECT(headrace_wait(-1) == HEADRACE_ABSENT);
  EXPECT(headrace_progress(file, &progress) == HEADRACE_ABSENT && progress.accepted == 0);
  EXPECT(headrace_why_not(dataset, &reason) == HEADRACE_ABSENT && reason == NULL);
  EXPECT(H5Eget_num(H5E_DEFAULT) == 0);
  REQUIRE(H5Dclose(dataset));
  REQUIRE(H5Fclose(file));
}

/* A file with the native connector in a process that has the layer. */
static void beside(const char *name) {
  char second[4096];
  snprintf(second, sizeof second, "%s.second", name);
  const hid_t ours = H5Fcreate(second, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT(headrace_wait(ours) == HEADRACE_DONE);
  const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  REQUIRE(H5Pset_vol(list, H5VL_NATIVE, NULL));
  const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, list);
  REQUIRE(file);
  EXPECT(headrace_wait(file) == HEADRACE_ABSENT);
  EXPECT(headrace_pause(file) == HEADRACE_ABSENT);
  EXPECT(H5Eget_num(H5E_DEFAULT) == 0);
  REQUIRE(H5Fclose(file));
  REQUIRE(H5Pclose(list));
  REQUIRE(H5Fclose(ours));
  /* The library ends and comes again, and with it the operations. */
  REQUIRE(H5close());
  const hid_t again = H5Fopen(second, H5F_ACC_RDWR, H5P_DEFAULT);
  REQUIRE(again);
  EXPECT(headrace_wait(again) == HEADRACE_DONE);
  EXPECT(headrace_pause(again) == HEADRACE_DONE);
  REQUIRE(H5Fclose(again));
}

/* While paused nothing reaches the file; after a wait everything is there. */
static void wait_for_it(const char *name) {
  const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t plain = created(file, "plain", 0);
  const hid_t packed = created(file, "packed", 1);
  const char *reason = NULL;
  EXPECT(headrace_why_not(plain, &reason) == HEADRACE_DONE && strcmp(reason, "layout") == 0);
  EXPECT(headrace_why_not(packed, &reason) == HEADRACE_DONE && *reason == '\0');
  fill(1);
  EXPECT(headrace_pause(file) == HEADRACE_DONE);
  write_all(plain);
  EXPECT(!in_file(name));
  write_all(packed);
  rest();
  const headrace_progress_t before = progress_of(file);
  EXPECT(before.staged >= sizeof values);
  EXPECT(before.chunks == sizeof values);
  EXPECT(headrace_wait(file) == HEADRACE_DONE);
  const headrace_progress_t after = progress_of(file);
  EXPECT(after.staged == 0 && after.chunks == 0 && after.memory == 0);
  EXPECT(after.stored > before.accepted);
  EXPECT(in_file(name));
  /* A caller that knows the begin of the struct only. */
  headrace_progress_t older = {offsetof(headrace_progress_t, stored), 0, 7, 7, 7, 7};
  EXPECT(headrace_operation_(file, 1, HEADRACE_OPERATION_PROGRESS, &older) == HEADRACE_DONE);
  EXPECT(older.accepted == after.accepted && older.stored == 7 && older.memory == 7);
  EXPECT(headrace_resume(file) == HEADRACE_DONE);
  REQUIRE(H5Dclose(plain));
  REQUIRE(H5Dclose(packed));
  REQUIRE(H5Fclose(file));
}

/* Nested pauses, the close of a file that is paused, and the way on. */
static void nest(const char *name) {
  char second[4096];
  snprintf(second, sizeof second, "%s.second", name);
  const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t other = H5Fcreate(second, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t dataset = created(file, "plain", 0);
  fill(1);
  EXPECT(headrace_pause(file) == HEADRACE_DONE);
  EXPECT(headrace_pause(file) == HEADRACE_DONE);
  EXPECT(headrace_pause(other) == HEADRACE_DONE);
  EXPECT(headrace_resume(file) == HEADRACE_DONE);
  write_all(dataset);
  EXPECT(headrace_resume(file) == HEADRACE_DONE);
  rest();
  EXPECT(progress_of(file).staged >= sizeof values); /* paused for the other one */
  H5E_BEGIN_TRY { EXPECT(headrace_resume(file) == HEADRACE_FAILED); }
  H5E_END_TRY
  REQUIRE(H5Fclose(other)); /* ends its pause */
  for (int i = 0; i < 50 && progress_of(file).staged > 0; ++i) rest();
  EXPECT(progress_of(file).staged == 0);
  EXPECT(in_file(name));
  EXPECT(headrace_pause(file) == HEADRACE_DONE);
  write_all(dataset);
  REQUIRE(H5Dclose(dataset));
  const hid_t packed = created(file, "packed", 1);
  write_all(packed);
  REQUIRE(H5Dclose(packed));
  REQUIRE(H5Fclose(file));
}

/* The program ends while paused, without closing anything. */
static void end(const char *name) {
  const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  fill(1);
  EXPECT(headrace_pause(file) == HEADRACE_DONE);
  write_all(created(file, "plain", 0));
  write_all(created(file, "packed", 1));
}

/* It forks while paused; the child has a file of its own. */
static void split(const char *name) {
  char second[4096];
  snprintf(second, sizeof second, "%s.second", name);
  const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  fill(1);
  EXPECT(headrace_pause(file) == HEADRACE_DONE);
  const hid_t plain = created(file, "plain", 0);
  const hid_t packed = created(file, "packed", 1);
  write_all(plain);
  write_all(packed);
  const pid_t child = fork();
  if (child == 0) {
    alarm(50); /* nobody would end it */
    const hid_t own = H5Fcreate(second, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    write_all(created(own, "plain", 0));
    write_all(created(own, "packed", 1));
    REQUIRE(H5Fflush(own, H5F_SCOPE_LOCAL));
    EXPECT(headrace_resume(file) == HEADRACE_DONE);
    write_all(created(own, "more", 1));
    REQUIRE(H5Fflush(own, H5F_SCOPE_LOCAL));
    _exit(0);
  }
  int status = 1;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  EXPECT(in_file(name)); /* a fork writes what is staged */
  REQUIRE(H5Dclose(plain));
  REQUIRE(H5Dclose(packed));
  REQUIRE(H5Fclose(file));
}

/* A write behind the program fails: the wait tells it once, and tries again. */
static void fail(const char *name) {
  const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t dataset = created(file, "plain", 0);
  fill(1);
  write_all(dataset);
  int told = 0;
  H5E_BEGIN_TRY { told = headrace_wait(file); }
  H5E_END_TRY
  EXPECT(told == HEADRACE_FAILED);
  H5Eprint2(H5E_DEFAULT, stdout);
  EXPECT(headrace_wait(file) == HEADRACE_DONE);
  EXPECT(in_file(name));
  REQUIRE(H5Fflush(file, H5F_SCOPE_LOCAL));
  REQUIRE(H5Dclose(dataset));
  REQUIRE(H5Fclose(file));
}

static hid_t with_options(const char *name, const char *options) {
  void *info = NULL;
  char text[256];
  snprintf(text, sizeof text, "%s;under_vol=0;under_info={}", options);
  const hid_t connector = H5VLregister_connector_by_name("headrace_async", H5P_DEFAULT);
  const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  REQUIRE(H5VLconnector_str_to_info(text, connector, &info));
  REQUIRE(H5Pset_vol(list, connector, info));
  const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, list);
  REQUIRE(file);
  REQUIRE(H5VLfree_connector_info(connector, info));
  REQUIRE(H5Pclose(list));
  REQUIRE(H5VLclose(connector));
  return file;
}

/* Files that ask for different budgets: the larger holds, as long as its file is open. */
static void share(const char *name) {
  const uint64_t small = 1 << 20;
  char second[4096];
  snprintf(second, sizeof second, "%s.second", name);
  const hid_t large = with_options(second, "budget=32MiB;flush_interval=0");
  const hid_t file = with_options(name, "budget=1MiB;flush_interval=0");
  fill(1);
  EXPECT(headrace_pause(file) == HEADRACE_DONE);
  const hid_t first = created(file, "plain", 0);
  write_all(first);
  EXPECT(progress_of(file).memory > small);
  EXPECT(headrace_wait(file) == HEADRACE_DONE);
  REQUIRE(H5Fclose(large));
  write_all(first);
  EXPECT(progress_of(file).memory <= small);
  REQUIRE(H5Dclose(first));
  REQUIRE(H5Fclose(file));
}

/* Files that ask for different chunk caches: each has its own, whichever was opened last. */
static void caches(const char *name) {
  const char *options[] = {"chunk_cache=64MiB", "chunk_cache=0", "chunk_cache=32MiB"};
  const char *answers[] = {"", "chunk_cache", ""};
  hid_t files[3], datasets[3];
  for (int i = 0; i < 3; ++i) {
    char path[4096];
    snprintf(path, sizeof path, "%s%.*s", name, i, "23"); /* x.h5, x.h52, x.h523 */
    files[i] = with_options(path, options[i]);
  }
  fill(1);
  for (int i = 0; i < 3; ++i) {
    const char *reason = NULL;
    datasets[i] = created(files[i], "packed", 1);
    write_all(datasets[i]);
    EXPECT(headrace_why_not(datasets[i], &reason) == HEADRACE_DONE);
    EXPECT(strcmp(reason, answers[i]) == 0);
  }
  for (int i = 0; i < 3; ++i) {
    REQUIRE(H5Dclose(datasets[i]));
    REQUIRE(H5Fclose(files[i]));
  }
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(const char *file);
  } kinds[] = {{"native", native}, {"beside", beside}, {"wait", wait_for_it},
               {"nest", nest},     {"share", share},   {"end", end},
               {"split", split},   {"fail", fail},     {"caches", caches}};
  for (size_t i = 0; argc > 2 && i < sizeof kinds / sizeof *kinds; ++i) {
    if (strcmp(argv[2], kinds[i].name) != 0) continue;
    kinds[i].run(argv[1]);
    printf("good\n");
    return 0;
  }
  return 2;
}

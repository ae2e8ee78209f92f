/* uses_hdf5 [HOW]: uses a libhdf5 and then does one of the things below. Ends with status 3 if it
   comes to its end, and with 0 if it was told nothing. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void H5Fopen(void);

static void close_below(int end) {
  for (int i = 0; i < end; ++i) close(i);
}

static void crash(void) { *(volatile int *)0 = 1; }

static void crash_with_a_handler(void) {
  signal(SIGSEGV, _exit);
  crash();
}

static void abort_silently(void) {
  close_below(3);
  abort();
}

static void lose_the_variables(void) {
  clearenv();
  if (chdir("/") != 0) abort();
}

static void change_variables(void) {
  setenv("HDF5_DRIVER", "a\"b\\\n", 1);
  unsetenv("HDF5_PLUGIN_PATH");
}

static void exit_as_the_child(void) {
  int status;
  wait(&status);
  exit(WEXITSTATUS(status));
}

static void do_as_told(const char *how) {
#define IS(name) (strcmp(how, name) == 0)
  if (IS("exit")) exit(4);
  if (IS("_exit")) _exit(5);
  if (IS("_Exit")) _Exit(6);
  if (IS("abort")) abort();
  if (IS("abort-silently")) abort_silently();
  if (IS("crash")) crash();
  if (IS("crash-with-a-handler")) crash_with_a_handler();
  if (IS("raise-SIGABRT")) raise(SIGABRT);
  if (IS("raise-SIGFPE")) raise(SIGFPE);
  if (IS("raise-SIGKILL")) raise(SIGKILL);
  if (IS("kill")) kill(getpid(), SIGSEGV);
  if (IS("close-streams")) close_below(3);
  if (IS("close-all")) close_below(1000);
  if (IS("lose-the-variables")) lose_the_variables();
  if (IS("change-variables")) change_variables();
  if (IS("exec")) execl("/bin/true", "true", (char *)0);
  if (IS("fork") && fork() == 0) _exit(9);
  if (IS("vfork") && vfork() == 0) _exit(9);
  if (IS("fork") || IS("vfork")) exit_as_the_child();
#undef IS
}

int main(int argc, char **argv) {
  H5Fopen();
  if (argc == 1) return 0;
  do_as_told(argv[1]);
  return 3;
}

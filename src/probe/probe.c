/* The library that `headrace doctor -- COMMAND` preloads into COMMAND: tells in a file which copies
 * of libhdf5 each of its processes had when it ended. Without the variable that names the file it
 * does nothing at all. It is linked with nothing but the C library, keeps the processes' own exit
 * statuses and signals, and may be forked, exec'ed and crashed at will.
 *
 * One line when a process starts and one when it ends:
 *   {"event":"start","pid":1,"exe":"/usr/bin/h5dump"}
 *   {"event":"end","pid":1,"exe":"...","how":"exit|_exit|signal","signal":0,
 *    "environment":{"HDF5_PLUGIN_PATH":"...","HDF5_DRIVER":null,...},
 *    "copies":[{"path":"...","version":"1.14.5","initialised":true,"parallel":false,
 *               "threadsafe":null}]}
 * Where `copies` is empty, `objects` names all that was loaded; in forked children it always is. A
 * process that is killed, or that execs, has no end. Whether a copy is initialised has to be asked
 * before exit handlers run, of which HDF5's own resets it; hence the wrappers of exit() and main()
 * below rather than a destructor alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "copies.h"
#include "line.h"

#define PUBLIC __attribute__((visibility("default")))

enum { kLineCapacity = 1 << 17 };

static char g_file[PATH_MAX]; /* empty: stay silent */
static char g_exe[PATH_MAX];
static pid_t g_first_pid; /* the process that loaded this library, not one it forked */
/* The process that has written its end: a forked child has another pid and writes its own. */
static atomic_int g_ended_pid;
/* The process that is using g_text. vfork() children share it with their waiting parent. */
static atomic_int g_writing_pid;
static char g_text[kLineCapacity];

static const int kCrashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

static void append(const struct Line* line) {
  const int fd = open(g_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return;
  (void)!write(fd, line->text, line->length);
  close(fd);
}

static void begin(struct Line* line, const char* event) {
  *line = (struct Line){.text = g_text, .capacity = sizeof g_text};
  headrace_add(line, "{\"event\":\"");
  headrace_add(line, event);
  headrace_add(line, "\",\"pid\":");
  headrace_add_number(line, getpid());
  headrace_add(line, ",\"exe\":");
  headrace_add_quoted(line, g_exe);
}

/* As the program left it: programs and scripts change it, and HDF5 reads it late. */
static void add_environment(struct Line* line) {
  static const char* const kNames[] = {"HDF5_PLUGIN_PATH", "HDF5_PLUGIN_PRELOAD",
                                       "HDF5_VOL_CONNECTOR", "HDF5_DRIVER", "HDF5_DRIVER_CONFIG"};
  headrace_add(line, "\"environment\":{");
  for (size_t i = 0; i < sizeof kNames / sizeof *kNames; ++i) {
    headrace_add(line, i == 0 ? "" : ",");
    headrace_add_quoted(line, kNames[i]);
    headrace_add(line, ":");
    headrace_add_quoted(line, getenv(kNames[i]));
  }
  headrace_add(line, "},");
}

static void report_end(const char* how, int signal_number) {
  const int pid = getpid();
  int writing = atomic_load(&g_writing_pid);
  if (g_file[0] == '\0' || writing == pid) return;
  if (atomic_exchange(&g_ended_pid, pid) == pid) return;
  if (!atomic_compare_exchange_strong(&g_writing_pid, &writing, pid)) return;
  struct Line line;
  begin(&line, "end");
  headrace_add(&line, ",\"how\":\"");
  headrace_add(&line, how);
  headrace_add(&line, "\",\"signal\":");
  headrace_add_number(&line, signal_number);
  headrace_add(&line, ",");
  add_environment(&line);
  if (pid == g_first_pid) {
    headrace_add_copies(&line, g_exe, strcmp(how, "exit") == 0);
  } else {
    headrace_add_mapped(&line);
  }
  headrace_add(&line, "}\n");
  if (!line.full) append(&line);
  atomic_store(&g_writing_pid, writing);
}

/* The handler was installed for one signal only; coming back from it repeats the fault, which then
 * has its usual end. One that was sent is not repeated by itself. */
static void on_crash(int number, siginfo_t* info, void* context) {
  (void)context;
  report_end("signal", number);
  if (info->si_code <= 0) raise(number);
}

static void watch_crashes(void) {
  for (size_t i = 0; i < sizeof kCrashes / sizeof *kCrashes; ++i) {
    struct sigaction old;
    if (sigaction(kCrashes[i], NULL, &old) != 0 || old.sa_handler != SIG_DFL) continue;
    struct sigaction ours = {.sa_flags = SA_SIGINFO | SA_RESETHAND | SA_ONSTACK};
    ours.sa_sigaction = on_crash;
    sigemptyset(&ours.sa_mask);
    sigaction(kCrashes[i], &ours, NULL);
  }
}

__attribute__((constructor)) static void start(void) {
  const char* const file = getenv("_HEADRACE_PROBE");
  if (file == NULL || strlen(file) >= sizeof g_file) return;
  const ssize_t length = readlink("/proc/self/exe", g_exe, sizeof g_exe - 1);
  g_exe[length < 0 ? 0 : length] = '\0';
  strcpy(g_file, file);
  g_first_pid = getpid();
  struct Line line;
  begin(&line, "start");
  headrace_add(&line, "}\n");
  append(&line);
  watch_crashes();
}

__attribute__((destructor)) static void finish(void) { report_end("exit", 0); }

typedef void (*Exit)(int);
typedef int (*Main)(int, char**, char**);
typedef int (*StartMain)(Main, int, char**, Main, void (*)(void), void (*)(void), void*);

PUBLIC _Noreturn void exit(int status) {
  report_end("exit", 0);
  const Exit next = (Exit)(uintptr_t)dlsym(RTLD_NEXT, "exit");
  next(status);
  __builtin_unreachable();
}

/* Never reaches the C library's, which does nothing else. */
PUBLIC _Noreturn void _exit(int status) {
  report_end("_exit", 0);
  for (;;) syscall(SYS_exit_group, status);
}

PUBLIC _Noreturn void _Exit(int status) { _exit(status); }

static Main g_main;

static int main_then_report(int argc, char** argv, char** envp) {
  const int status = g_main(argc, argv, envp);
  report_end("exit", 0);
  return status;
}

PUBLIC int __libc_start_main(Main program, int argc, char** argv, Main init, void (*fini)(void),
                             void (*loader_fini)(void), void* stack_end) {
  const StartMain next = (StartMain)(uintptr_t)dlsym(RTLD_NEXT, "__libc_start_main");
  g_main = program;
  return next(main_then_report, argc, argv, init, fini, loader_fini, stack_end);
}

/* Threads that load libraries without a pause, while children are forked; each must end well. */
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

void H5Fopen(void);

static void *load(void *unused) {
  for (;;) dlclose(dlopen("libm.so.6", RTLD_LAZY));
  return unused;
}

int main(void) {
  H5Fopen();
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], 0, load, 0);
  for (int i = 0; i < 300; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    int status;
    waitpid(child, &status, 0);
    if (status != 0) _exit(1);
  }
  _exit(8);
}

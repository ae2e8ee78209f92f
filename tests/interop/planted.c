/* For LD_PRELOAD: does what a sanitizer finds, as PLANTED says, when the process begins. */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int raced;

static void *race(void *unused) {
  for (int i = 0; i < 100000; ++i) ++raced;
  return unused;
}

__attribute__((constructor)) static void plant(void) {
  const char *what = getenv("PLANTED");
  if (what == NULL) return;
  if (strcmp(what, "heap") == 0) {
    volatile char *block = malloc(8);
    block[strlen(what) + 4] = 1;
    free((void *)block);
  } else if (strcmp(what, "overflow") == 0) {
    volatile int most = INT_MAX;
    most += (int)strlen(what);
  } else if (strcmp(what, "race") == 0) {
    pthread_t other;
    if (pthread_create(&other, NULL, race, NULL) != 0) return;
    race(NULL);
    pthread_join(other, NULL);
  }
}

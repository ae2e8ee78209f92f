/* A library that cannot be loaded: the process aborts. */
#include <stdlib.h>

__attribute__((constructor)) static void begin(void) { abort(); }

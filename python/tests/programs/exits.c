/* A library that ends the process that loads it. */
#include <stdlib.h>

__attribute__((constructor)) static void begin(void) { exit(7); }

/* A library that cannot be loaded: the process crashes. */
__attribute__((constructor)) static void begin(void) { *(volatile int *)0 = 1; }

/* A library that no other has all symbols for. */
extern int absent;

int *needed = &absent;

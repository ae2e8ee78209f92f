/* A library that uses libhdf5. */
void H5Fopen(void);

void f(void) { H5Fopen(); }

/* A program that looks like one with HDF5 in it, and ends with status 5. */
char label[] = "HDF5 library version: 1.14.5";

int main(void) { return 5; }

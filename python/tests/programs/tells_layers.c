/* Says whether it was given any layers. */
#include <stdio.h>
#include <stdlib.h>

int main(void) { return puts(getenv("HDF5_VOL_CONNECTOR") ? "layers" : "native") < 0; }

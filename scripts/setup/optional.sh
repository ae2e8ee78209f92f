#!/usr/bin/env bash
# Says what the build makes use of where it is there: MPIs, by their compiler wrappers' content, and what
# the benchmarks need. A package that was built without them is built anew once they are there.
set -euo pipefail

for wrapper in mpicc.openmpi mpicc.mpich mpicc; do
    path=$(command -v "$wrapper") || continue
    printf '%s %s\n' "$wrapper" "$(sha256sum <"$path" | cut -d' ' -f1)"
done
for header in CLI/CLI.hpp INIReader.h pnetcdf.h; do
    printf '#if __has_include(<%s>)\n%s\n#endif\n' "$header" "$header"
done | c++ -E -P -x c++ -

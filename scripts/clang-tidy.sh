#!/usr/bin/env bash
# In the place of the compiler: checks a source with clang-tidy, on GCC's command line less what clang
# refuses. The object stays empty: it says what has been checked, and nothing is linked.
#   clang-tidy.sh g++ OPTION... -o OBJECT -c SOURCE
set -euo pipefail

arguments=()
for argument in "${@:2}"; do
    [ "$argument" = -fno-gnu-unique ] || arguments+=("$argument")
done
"$(dirname "$0")/../.venv/bin/clang-tidy" --quiet "${!#}" -- "${arguments[@]}"
object=${*: -3:1}
"$@" -E # for the list of headers
: >"$object"

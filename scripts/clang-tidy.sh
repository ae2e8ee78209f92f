#!/usr/bin/env bash
# clang-tidy on GCC's command lines: leaves out the options that clang refuses.
set -euo pipefail

arguments=()
for argument in "$@"; do
    [ "$argument" = -fno-gnu-unique ] || arguments+=("$argument")
done
exec "$(dirname "$0")/../.venv/bin/clang-tidy" --quiet "${arguments[@]}"

#!/usr/bin/env bash
# Runs one stage of a longer run between a banner and its duration.
#   stage.sh [--budget SECONDS] NAME COMMAND...
# Where STAGE_TIMES names a file, a line of it says: name, seconds, budget, outcome (see test_times.py).
set -euo pipefail

budget=0
if [ "$1" = --budget ]; then
    budget=$2
    shift 2
fi
name=$1
shift
printf '\n==== %s\n' "$name"
SECONDS=0
status=0
"$@" || status=$?
outcome=finished
[ $status = 0 ] || outcome=FAILED
printf '==== %s: %s after %d s\n' "$name" "$outcome" "$SECONDS"
if [ -n "${STAGE_TIMES:-}" ]; then
    printf '%s\t%d\t%d\t%s\n' "$name" "$SECONDS" "$budget" "$outcome" >>"$STAGE_TIMES"
fi
exit $status

#!/usr/bin/env bash
# Runs one stage of a longer run between a banner and its duration.
#   stage.sh NAME COMMAND...
set -euo pipefail

name=$1
shift
printf '\n==== %s\n' "$name"
SECONDS=0
status=0
"$@" || status=$?
outcome=finished
[ $status = 0 ] || outcome=FAILED
printf '==== %s: %s after %d s\n' "$name" "$outcome" "$SECONDS"
exit $status

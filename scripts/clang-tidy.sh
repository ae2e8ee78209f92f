#!/usr/bin/env bash
# In the place of the compiler: checks a source with clang-tidy, on GCC's command line less what clang
# refuses. The object stays empty: it says what has been checked, and nothing is linked.
#   clang-tidy.sh g++ OPTION... -o OBJECT -c SOURCE
# What was found good is remembered in the user's cache, by all that clang-tidy read of the checkout.
# The analyzer takes most of the time, and looks when LONG=1.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
tidy=$root/.venv/bin/clang-tidy
source=${*: -1}
object=$PWD/${*: -3:1}
arguments=()
for argument in "${@:2}"; do
    case $argument in
    -fno-gnu-unique | -Werror) ;; # unknown to clang; GCC's own builds tell its warnings
    *) arguments+=("$argument") ;;
    esac
done
checks=()
[ "${LONG:-0}" != 0 ] || checks=(--checks=-clang-analyzer-*)

"$@" -E # leaves the list of headers in a file of its own, for ninja, too
: >"$object"
verdict=$(
    cd "$root"
    {
        "$tidy" --version
        g++ -dumpfullversion
        printf '%s\n' "${checks[@]}" "${arguments[@]//$root/}"
        tr -d '\134' <"$object.d" | tr -s ' ' '\n' | sed -n "s|^$root/||p" |
            grep -v '/by-folder/' | xargs sha256sum # those name the checkout
        sha256sum .clang-tidy tests/.clang-tidy
    } | sha256sum | cut -d' ' -f1
)
good=${XDG_CACHE_HOME:-$HOME/.cache}/headrace/clang-tidy/$verdict
[ ! -e "$good" ] || exit 0
# A checkout may lie below another folder of that name.
"$tidy" --quiet --exclude-header-filter="^$root/build/" "${checks[@]}" "$source" -- "${arguments[@]}" || {
    rm "$object"
    exit 1
}
mkdir -p "$(dirname "$good")"
: >"$good"

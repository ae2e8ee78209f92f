# Sourced by the set-up scripts: where things are, how to say what happens, how to become root.
# shellcheck shell=bash
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck disable=SC2034  # used by the scripts that source this file
setup=$root/scripts/setup

say() { printf '[setup] %s\n' "$*"; }
die() {
    printf '[setup] error: %s\n' "$*" >&2
    exit 1
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "needs root or sudo to run: $*"
    fi
}

# at_least HAVE WANT: version comparison.
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n1)" = "$2" ]; }

# digest FILE...: one checksum over the contents, to notice that a recipe has changed.
digest() { cat "$@" | sha256sum | cut -d' ' -f1; }

# unpack_crate WHAT MANIFEST CRATE CHECKSUM FOLDER DEST: a folder of the crate that a manifest pins.
# Exits 3 when there is no cargo that can read today's registry (1.70 or newer).
unpack_crate() {
    local cargo destination work
    cargo=$(command -v cargo) || exit 3
    at_least "$("$cargo" --version | cut -d' ' -f2)" 1.70 || exit 3
    mkdir -p "$(dirname "$6")"
    destination=$(cd "$(dirname "$6")" && pwd)/$(basename "$6")
    work=$(mktemp -d "$destination.XXXXXX")
    # shellcheck disable=SC2064  # expanded now: it is local
    trap "rm -rf '$work'" EXIT
    say "$1 source from the crate $3 -> $destination"
    cp -r "$2" "$work/manifest"
    "$cargo" vendor --quiet --manifest-path "$work/manifest/Cargo.toml" "$work/vendor" >/dev/null
    # Cargo has compared the archive with this checksum of the registry; we compare that with ours.
    grep -q "\"package\":\"$4\"" "$work/vendor/$3/.cargo-checksum.json" ||
        die "the crate's checksum is not $4"
    # A rename makes the destination appear complete or not at all.
    mv -T "$work/vendor/$3/$5" "$destination" || [ -e "$destination" ]
}

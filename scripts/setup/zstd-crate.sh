#!/usr/bin/env bash
# Unpacks Zstd 1.5.7's source, as the crate zstd-sys carries it, into DEST.
#   zstd-crate.sh DEST
# Exits 3 when there is no cargo that can read today's registry (1.70 or newer).
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/common.sh"

checksum=481ada9c543b2323cbb7bbdbb5249177fbf0188ed959ed2c15e4b22421c84ed3

[ $# = 1 ] || die "usage: zstd-crate.sh DEST"
[ ! -e "$1" ] || exit 0
unpack_crate "Zstd 1.5.7" "$setup/zstd-crate" zstd-sys "$checksum" zstd "$1"

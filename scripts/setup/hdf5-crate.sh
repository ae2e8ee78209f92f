#!/usr/bin/env bash
# Unpacks HDF5 2.2.0's library source, as the crate hdf5-metno-src carries it, into DEST.
#   hdf5-crate.sh DEST
# Exits 3 when there is no cargo that can read today's registry (1.70 or newer).
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/common.sh"

checksum=69c883c565498492954e344c482f8622525e58c7a71100dd9498c4940da82885

[ $# = 1 ] || die "usage: hdf5-crate.sh DEST"
[ ! -e "$1" ] || exit 0
mkdir -p "$(dirname "$1")"
destination=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")

cargo=$(command -v cargo) || exit 3
at_least "$("$cargo" --version | cut -d' ' -f2)" 1.70 || exit 3

work=$(mktemp -d "$destination.XXXXXX")
trap 'rm -rf "$work"' EXIT
say "HDF5 2.2.0 source from the crate hdf5-metno-src 0.10.4 -> $destination"
cp -r "$setup/hdf5-crate" "$work/manifest"
"$cargo" vendor --quiet --manifest-path "$work/manifest/Cargo.toml" "$work/vendor" >/dev/null
crate=$work/vendor/hdf5-metno-src
# Cargo has compared the archive with this checksum of the registry; we compare that with ours.
grep -q "\"package\":\"$checksum\"" "$crate/.cargo-checksum.json" ||
    die "the crate's checksum is not $checksum"
# A rename makes the destination appear complete or not at all.
mv -T "$crate/ext/hdf5" "$destination" || [ -e "$destination" ]

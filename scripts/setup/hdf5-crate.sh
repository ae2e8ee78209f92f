#!/usr/bin/env bash
# Unpacks HDF5 2.2.0's library source, as the crate hdf5-metno-src carries it, into DEST.
#   hdf5-crate.sh DEST
# Exits 3 when there is no cargo that can read today's registry (1.70 or newer).
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/common.sh"

checksum=69c883c565498492954e344c482f8622525e58c7a71100dd9498c4940da82885

[ $# = 1 ] || die "usage: hdf5-crate.sh DEST"
[ ! -e "$1" ] || exit 0
unpack_crate "HDF5 2.2.0" "$setup/hdf5-crate" hdf5-metno-src "$checksum" ext/hdf5 "$1"

#!/usr/bin/env bash
# Installs what dpkg lacks of a set of Debian packages; asks the network nothing when all are there.
#   apt.sh demo    to build Headrace and run the demonstration
#   apt.sh test    to build the HDF5 test matrix and run every test
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/common.sh"

packages=(build-essential ca-certificates ccache cmake git libasio-dev libcli11-dev libdeflate-dev
    libinih-dev liblmdb-dev liblz4-dev libtomlplusplus-dev libzstd-dev ninja-build pkg-config python3-venv)
case ${1:-} in
demo) ;;
test)
    packages+=(chromium csh fish gdb hdf5-tools libgtest-dev libmpich-dev libopenmpi-dev
        libpnetcdf-dev mpich openmpi-bin strace valgrind zlib1g-dev)
    ;;
*) die "usage: apt.sh demo|test" ;;
esac

missing() {
    local package
    for package in "$@"; do
        case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
        installed) ;;
        *) printf '%s\n' "$package" ;;
        esac
    done
}

# The crates' registry speaks to cargo 1.70 and newer only, Debian 12's own is 1.65.
needs_cargo() {
    local version
    version=$(cargo --version 2>/dev/null | cut -d' ' -f2)
    ! at_least "${version:-0}" 1.70
}

mapfile -t wanted < <(missing "${packages[@]}")
if [ "$1" = test ] && needs_cargo; then
    wanted+=(cargo-web)
fi
[ ${#wanted[@]} -gt 0 ] || exit 0

command -v apt-get >/dev/null || die "no apt-get here: install by hand: ${wanted[*]}"
say "Debian packages: ${wanted[*]}"
as_root apt-get -qq update
as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -y install --no-install-recommends "${wanted[@]}" >/dev/null

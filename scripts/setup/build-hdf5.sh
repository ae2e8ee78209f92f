#!/usr/bin/env bash
# Builds one HDF5 of the test matrix into build/hdf5/NAME/install, unless it is there already.
#   build-hdf5.sh 1.14.5-openmpi    Debian 13's source: library, tools, API suite, parallel tests
#   build-hdf5.sh 2.2.0-mpich       the crate's source: library, with the tests of 1.14.5
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/common.sh"

[ $# = 1 ] || die "usage: build-hdf5.sh 1.14.5-openmpi|2.2.0-mpich"
name=$1
version=${name%%-*}
mpi=${name#*-}
sources=$root/build/hdf5/sources
home=$root/build/hdf5/$name
prefix=$home/install
tests=(h5_api_test h5_api_test_parallel testphdf5 t_filters_parallel t_pmulti_dset t_shapesame)

recipe=$(digest "$0" "$setup/debian13.py" "$setup"/hdf5-crate/* "$setup"/hdf5-tests/*)
if [ "$(cat "$prefix/.recipe" 2>/dev/null)" = "$recipe" ]; then
    exit 0
fi

# HDF5 2.2 asks for CMake 3.26, Debian 12 has 3.25.
find_cmake() {
    cmake=$(command -v cmake)
    at_least "$("$cmake" --version | awk 'NR == 1 { print $3 }')" 3.26 && return
    cmake=$root/build/tools/bin/cmake
    [ ! -x "$cmake" ] || return 0
    say "CMake 3.31.6 from PyPI -> build/tools"
    python3 -m venv "$root/build/tools"
    "$root/build/tools/bin/pip" install --quiet cmake==3.31.6
}

# logged STEP COMMAND...: output to a log file, shown only when the command fails.
logged() {
    local log=$home/$1.log
    say "HDF5 $version with $mpi: $1 (log: ${log#"$root"/})"
    shift
    "$@" >"$log" 2>&1 || {
        tail -n 40 "$log" >&2
        die "failed: $*"
    }
}

# Optimised as distributions do it: HDF5's own -O3 takes half as long again to compile.
options=(-DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS_RELEASE=-O2 -DNDEBUG")
! ccache=$(command -v ccache) || options+=("-DCMAKE_C_COMPILER_LAUNCHER=$ccache")

configure() {
    logged configure "$cmake" -G Ninja -S "$sources/$version" -B "$home/build" \
        "${options[@]}" -DCMAKE_INSTALL_PREFIX="$prefix" \
        -DMPI_C_COMPILER="$(command -v "mpicc.$mpi")" \
        -DMPIEXEC_EXECUTABLE="$(command -v "mpiexec.$mpi")" \
        -DHDF5_INSTALL_LIB_DIR=lib -DBUILD_SHARED_LIBS=ON -DBUILD_STATIC_LIBS=OFF \
        -DHDF5_ENABLE_PARALLEL=ON -DHDF5_ENABLE_SUBFILING_VFD=ON -DHDF5_ENABLE_MAP_API=ON \
        -DHDF5_BUILD_HL_LIB=ON -DHDF5_BUILD_EXAMPLES=OFF -DHDF5_NO_PACKAGES=ON "$@"
}

# The build's own install target would first build every test, so: components.
install_components() {
    local component
    for component in libraries headers configinstall hllibraries "$@"; do
        "$cmake" --install "$home/build" --component "$component" || return 1
    done
}

# HDF5's programs look for libraries in ../lib, which from bin/tests is bin/lib.
install_tests() {
    mkdir -p "$prefix/bin/tests"
    ln -sfn ../lib "$prefix/bin/lib"
    cp -P "$1"/libhdf5_test.so* "$prefix/lib/"
    cp "${tests[@]/#/$1/}" "$prefix/bin/tests/"
}

build_1_14_5() {
    configure -DHDF5_BUILD_TOOLS=ON -DHDF5_ENABLE_Z_LIB_SUPPORT=ON \
        -DHDF5_ENABLE_SZIP_SUPPORT=OFF -DBUILD_TESTING=ON -DHDF5_TEST_API=ON
    logged build ninja -C "$home/build" src/all hl/src/all tools/src/all "${tests[@]}"
    logged install install_components toolslibraries toolsapplications
    install_tests "$home/build/bin"
}

build_2_2_0() {
    configure -DHDF5_BUILD_TOOLS=OFF -DHDF5_ENABLE_ZLIB_SUPPORT=ON -DBUILD_TESTING=OFF
    logged build ninja -C "$home/build" src/all hl/src/all
    logged install install_components
    logged configure-tests "$cmake" -G Ninja -S "$setup/hdf5-tests" -B "$home/tests" \
        "${options[@]}" -DMPI_C_COMPILER="$(command -v "mpicc.$mpi")" \
        -DTESTS="$sources/1.14.5" -DSOURCE="$sources/2.2.0" -DBUILD="$home/build"
    logged build-tests ninja -C "$home/tests"
    install_tests "$home/tests"
}

find_cmake
rm -rf "$prefix"
mkdir -p "$home"
python3 "$setup/debian13.py" source "$sources/1.14.5"
case $version in
1.14.5) build_1_14_5 ;;
2.2.0)
    "$setup/hdf5-crate.sh" "$sources/2.2.0" || die "needs cargo 1.70 or newer"
    build_2_2_0
    ;;
*) die "unknown HDF5 build: $name" ;;
esac
printf '%s\n' "$recipe" >"$prefix/.recipe"
say "HDF5 $version with $mpi is in ${prefix#"$root"/}"

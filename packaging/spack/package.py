"""Spack recipe, for use from a checkout: `spack dev-build headrace@0.1.0` (Spack 1.0 or newer)."""
# ruff: noqa: ARG002, D102, F403, F405, RUF012

from spack.package import *
from spack_repo.builtin.build_systems.python import PythonPackage


class Headrace(PythonPackage):
    """Plug-ins that make the I/O of any HDF5 program faster and visible without touching it."""

    license("BSD-3-Clause")
    version("0.1.0")

    variant("openmpi", default=False, description="Build the module for Open MPI programs")
    variant("mpich", default=False, description="Build the module for MPICH programs")

    # Others are of its extras, such as headrace[bench], and Spack would import them all.
    import_modules = ["headrace", "headrace.cli"]

    with default_args(type="build"):
        depends_on("c")
        depends_on("cxx")
        depends_on("cmake@3.25:")
        depends_on("ninja")
        depends_on("pkgconfig")
        depends_on("py-scikit-build-core@0.10:")
        # Headers only.
        depends_on("asio")
        depends_on("cli11")
        depends_on("tomlplusplus@3.1:")
        # So, too: the plug-ins bind to the HDF5 that loads them, of any version from 1.14 on.
        depends_on("hdf5@1.14:")
        # Linked statically into the plug-ins. Older Zstds encode a tenth slower.
        depends_on("libdeflate@1.8:")
        depends_on("lz4@1.9: libs=static")
        depends_on("zstd@1.4: libs=static")
    # Of stores: its source is fetched elsewhere.
    depends_on("lmdb@0.9.24:")
    # Of headrace-bench: Spack builds it as a shared library.
    depends_on("inih")
    depends_on("openmpi", when="+openmpi")
    depends_on("mpich", when="+mpich")
    with default_args(type=("build", "run")):
        depends_on("python@3.11:")
        depends_on("py-typer@0.16:")
        depends_on("py-rich@13.7:")
        depends_on("py-numpy@1.26:")
        depends_on("py-backports-zstd@1:", when="^python@:3.13")

    # A module links the MPI it is for, and a Spack environment holds one MPI at a time.
    conflicts("+openmpi", when="+mpich")

    requires("%gcc@12:", "%clang@16:", policy="one_of", msg="C++20 is needed")

    def config_settings(self, spec, prefix):
        return {f"cmake.define.HEADRACE_FETCH_{name}": "OFF" for name in ("LMDB", "ZSTD")}

    def setup_build_environment(self, env):
        env.set("HDF5_ROOT", self.spec["hdf5"].prefix)

    def setup_run_environment(self, env):
        env.prepend_path(
            "HDF5_PLUGIN_PATH", join_path(python_platlib, "headrace", "lib", "plugins")
        )

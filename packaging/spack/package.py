"""Spack recipe, for use from a checkout: `spack dev-build headrace@0.1.0`."""
# ruff: noqa: D102, F403, F405

from spack.package import *


class Headrace(PythonPackage):
    """Plug-ins that make the I/O of any HDF5 program faster and visible without touching it."""

    license("BSD-3-Clause")
    version("0.1.0")

    variant("openmpi", default=False, description="Build the module for Open MPI programs")
    variant("mpich", default=False, description="Build the module for MPICH programs")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("cli11", type="build")
    depends_on("inih", type="build")
    depends_on("pkgconfig", type="build")
    # Linked statically into the plug-ins.
    depends_on("asio", type="build")
    depends_on("tomlplusplus", type="build")
    depends_on("libdeflate", type="build")
    depends_on("lz4 libs=static", type="build")
    depends_on("zstd libs=static", type="build")
    depends_on("py-scikit-build-core@0.10:", type="build")
    # Headers only: the plug-ins bind to the HDF5 that loads them, of any version from 1.14 on.
    depends_on("hdf5@1.14:", type="build")
    depends_on("openmpi", when="+openmpi")
    depends_on("mpich", when="+mpich")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-typer", type=("build", "run"))
    depends_on("py-rich", type=("build", "run"))

    # A module links the MPI it is for, and a Spack environment holds one MPI at a time.
    conflicts("+openmpi", when="+mpich")

    requires("%gcc@12:", "%clang@16:", policy="one_of", msg="C++20 is needed")

    def setup_build_environment(self, env):
        env.set("HDF5_ROOT", self.spec["hdf5"].prefix)

    def setup_run_environment(self, env):
        env.prepend_path(
            "HDF5_PLUGIN_PATH", join_path(python_platlib, "headrace", "lib", "plugins")
        )

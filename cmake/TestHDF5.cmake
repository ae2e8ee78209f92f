# headrace::test_hdf5: the HDF5 library that the C++ tests run on, with its own headers and its MPI.
include_guard(GLOBAL)

set(HEADRACE_TEST_HDF5 "${PROJECT_SOURCE_DIR}/build/hdf5/1.14.5-openmpi/install"
  CACHE PATH "Prefix of the HDF5 that the tests use")
string(REGEX MATCH "(openmpi|mpich)" headrace_test_mpi "${HEADRACE_TEST_HDF5}")
find_program(HEADRACE_TEST_MPICC NAMES mpicc.${headrace_test_mpi} mpicc
  DOC "Compiler wrapper of the MPI that the tests' HDF5 was built with")

if(NOT EXISTS "${HEADRACE_TEST_HDF5}/lib/libhdf5.so")
  message(FATAL_ERROR "No libhdf5.so below ${HEADRACE_TEST_HDF5}: run `make setup-test`, "
    "or set HEADRACE_TEST_HDF5.")
endif()

add_library(headrace::test_hdf5 SHARED IMPORTED)
set_target_properties(headrace::test_hdf5 PROPERTIES
  IMPORTED_LOCATION "${HEADRACE_TEST_HDF5}/lib/libhdf5.so"
  INTERFACE_INCLUDE_DIRECTORIES "${HEADRACE_TEST_HDF5}/include")

file(STRINGS "${HEADRACE_TEST_HDF5}/include/H5pubconf.h" headrace_test_parallel
  REGEX "^#define H5_HAVE_PARALLEL 1")
if(headrace_test_parallel)
  # Asked of the wrapper, not of FindMPI: several MPIs are in use here and FindMPI knows but one.
  execute_process(COMMAND "${HEADRACE_TEST_MPICC}" -show OUTPUT_VARIABLE headrace_test_mpi_flags
    COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(headrace_test_mpi_flags UNIX_COMMAND "${headrace_test_mpi_flags}")
  set(headrace_test_mpi_includes ${headrace_test_mpi_flags})
  list(FILTER headrace_test_mpi_includes INCLUDE REGEX "^-I")
  list(TRANSFORM headrace_test_mpi_includes REPLACE "^-I" "")
  list(FILTER headrace_test_mpi_flags INCLUDE REGEX "^-[lL]")
  target_include_directories(headrace::test_hdf5 SYSTEM INTERFACE ${headrace_test_mpi_includes})
  target_link_libraries(headrace::test_hdf5 INTERFACE ${headrace_test_mpi_flags})
  # Both MPIs' C++ bindings are obsolete and full of warnings.
  target_compile_definitions(headrace::test_hdf5 INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
endif()

# headrace_hdf5_programs(<name> <source>...): a C program for each MPI, <name>_openmpi and <name>_mpich,
# with the HDF5 built for it. The sanitizers' builds have no use for them.
function(headrace_hdf5_programs name)
  if(HEADRACE_SANITIZE)
    return()
  endif()
  foreach(build 1.14.5-openmpi 2.2.0-mpich)
    string(REGEX REPLACE ".*-" "" mpi ${build})
    set(prefix ${PROJECT_SOURCE_DIR}/build/hdf5/${build}/install)
    if(NOT TARGET headrace::mpi_${mpi} OR NOT EXISTS "${prefix}/lib/libhdf5.so")
      message(STATUS "No ${name}_${mpi}: it needs mpicc and ${prefix}")
      continue()
    endif()
    add_executable(${name}_${mpi} ${ARGN})
    target_compile_features(${name}_${mpi} PRIVATE c_std_11)
    target_compile_definitions(${name}_${mpi} PRIVATE _GNU_SOURCE)
    target_include_directories(${name}_${mpi} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support)
    target_include_directories(${name}_${mpi} SYSTEM PRIVATE "${prefix}/include")
    target_link_libraries(${name}_${mpi} PRIVATE "${prefix}/lib/libhdf5.so"
      headrace::mpi_${mpi} ${CMAKE_DL_LIBS})
  endforeach()
endfunction()
